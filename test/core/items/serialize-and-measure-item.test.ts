import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  measureItemBytes,
  serializeItem,
} from '../../../src/core/items/serialize-and-measure-item.ts'
import type { Item } from '../../../src/core/item.ts'

const message = (text: string): Item => ({
  type: 'message',
  role: 'user',
  content: [{ type: 'input_text', text }],
})
const origin = { wire: 'chat', account: 'mock', model: 'm', prefixHash: null }

test('measureItemBytes returns the size of the serialized item, whether it is called before or after serializeItem', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.boolean(), (text, isWritten) => {
      const item = message(text)
      if (isWritten) serializeItem(item)
      expect(measureItemBytes(item)).toBe(Buffer.from(JSON.stringify(item)).length)
      expect(serializeItem(item)).toBe(JSON.stringify(item))
    }),
  )
})

test('a serialized item does not contain its origin', () => {
  const item = message('naïve')
  const made = { ...item, origin }
  expect(serializeItem(made)).toBe(serializeItem(item))
  expect(measureItemBytes(made)).toBe(measureItemBytes(item))
})
