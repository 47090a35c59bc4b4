import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createGatewayToolOutput } from '../../../src/core/items/gateway-tool-items.ts'
import type { Item } from '../../../src/core/item.ts'
import { mapClientOutputIndexes } from '../../../src/background/event-log/map-stored-and-client-indexes.ts'

const GATEWAY_ITEM = createGatewayToolOutput('a', 'b')
const MODEL_ITEM: Item = { type: 'message', role: 'assistant', content: [] }

test('the client sees each output item at its stored index if there are no gateway tool items', () => {
  const stored = new Set([0, 2])
  const { storedClientIndexes, toStoredIndex } = mapClientOutputIndexes(stored, [
    MODEL_ITEM,
    MODEL_ITEM,
  ])
  expect(storedClientIndexes).toBe(stored)
  expect([0, 1, 2].map(toStoredIndex)).toEqual([0, 1, 2])
})

test('output indexes of the client do not count gateway tool items, and are mapped back to the stored indexes', () => {
  fc.assert(
    fc.property(fc.array(fc.boolean(), { maxLength: 12 }), fc.nat(3), (isGatewayItem, open) => {
      const items = isGatewayItem.map((isGateway) => (isGateway ? GATEWAY_ITEM : MODEL_ITEM))
      const indexes = [...isGatewayItem.keys()]
      const { storedClientIndexes, toStoredIndex } = mapClientOutputIndexes(new Set(indexes), items)
      const modelIndexes = indexes.filter((index) => isGatewayItem[index] === false)
      expect([...storedClientIndexes]).toEqual(modelIndexes.map((_, index) => index))
      expect([...storedClientIndexes].map(toStoredIndex)).toEqual(modelIndexes)
      // Unfinished items come after all stored ones.
      expect(toStoredIndex(modelIndexes.length + open)).toBe(isGatewayItem.length + open)
    }),
  )
})
