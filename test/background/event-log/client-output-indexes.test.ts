import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createGatewayToolOutput } from '../../../src/core/items/gateway-tool-items.ts'
import type { Item } from '../../../src/core/item.ts'
import { mapClientOutputIndexes } from '../../../src/background/event-log/client-output-indexes.ts'

const OURS = createGatewayToolOutput('a', 'b')
const THEIRS: Item = { type: 'message', role: 'assistant', content: [] }

test('without anything of the house, everybody counts alike', () => {
  const kept = new Set([0, 2])
  const { shown, keptAt } = mapClientOutputIndexes(kept, [THEIRS, THEIRS])
  expect(shown).toBe(kept)
  expect([0, 1, 2].map(keptAt)).toEqual([0, 1, 2])
})

test('what is told is counted without what is of the house, there and back', () => {
  fc.assert(
    fc.property(fc.array(fc.boolean(), { maxLength: 12 }), fc.nat(3), (ours, open) => {
      const items = ours.map((isOurs) => (isOurs ? OURS : THEIRS))
      const places = [...ours.keys()]
      const { shown, keptAt } = mapClientOutputIndexes(new Set(places), items)
      const told = places.filter((place) => ours[place] === false)
      expect([...shown]).toEqual(told.map((_, at) => at))
      expect([...shown].map(keptAt)).toEqual(told)
      // What is still open stands behind all that.
      expect(keptAt(told.length + open)).toBe(ours.length + open)
    }),
  )
})
