import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  decodeCopies,
  deduplicateAgainstItems,
  restoreFromItems,
  encodeCopies,
} from '../../../src/store/upstream-requests/deduplicate-against-items.ts'

const inner = (text: string): string => JSON.stringify(text).slice(1, -1)
const itemOf = (text: string): string =>
  JSON.stringify({ type: 'message', role: 'user', content: [{ type: 'input_text', text }] })
const bodyOf = (texts: readonly string[]): string =>
  JSON.stringify({ model: 'm', messages: texts.map((content) => ({ role: 'user', content })) })

test('deduplication removes strings from a request body if the items contain them', () => {
  const long = ['"Naïve"\n'.repeat(40), 'b😀\\'.repeat(60)]
  const { remaining, copies } = deduplicateAgainstItems(
    bodyOf([...long, 'short']),
    [...long, 'short'].map(itemOf),
  )
  expect(copies).toHaveLength(2)
  expect(remaining).toBe(
    '{"model":"m","messages":[{"role":"user","content":""},{"role":"user","content":""},{"role":"user","content":"short"}]}',
  )
})

test('deduplication keeps a string in the request body if the item escapes it differently', () => {
  const text = 'ï'.repeat(200)
  const body = bodyOf([text]).replaceAll('ï', '\\u00ef')
  expect(deduplicateAgainstItems(body, [itemOf(text)])).toEqual({ remaining: body, copies: [] })
})

test('deduplication stops searching the body after several items without a match', () => {
  const items = Array.from({ length: 10_000 }, (_, at) => itemOf(`${at} `.repeat(50)))
  const body = bodyOf(['x'.repeat(1_000_000)])
  const before = performance.now()
  expect(deduplicateAgainstItems(body, items).remaining).toBe(body)
  expect(performance.now() - before).toBeLessThan(500)
})

test('deduplication does not search the end of an item with many strings repeatedly', () => {
  const texts = Array.from({ length: 20_000 }, (_, at) => `${at} `.padEnd(70, 'x'))
  const part = (type: string) => texts.map((text) => ({ type, text }))
  const tail = Array.from({ length: 400_000 }, () => 1)
  const item = JSON.stringify({ type: 'message', content: part('input_text'), tail })
  const body = JSON.stringify({ messages: [{ role: 'user', content: part('text') }] })
  const before = performance.now()
  expect(deduplicateAgainstItems(body, [item]).copies).toHaveLength(texts.length)
  expect(performance.now() - before).toBeLessThan(500)
})

test('any request body is restored after deduplication against any items', () => {
  const piece = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 30 }),
    fc.constantFrom('"', '\\', '":"', '😀', '\ud83d', 'words and words '.repeat(10)),
  )
  const words = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(''))
  fc.assert(
    fc.property(fc.array(words, { maxLength: 8 }), fc.array(words), (said, others) => {
      const items = [...said, ...others].map(itemOf)
      const body = bodyOf(said).toWellFormed()
      const { remaining, copies } = deduplicateAgainstItems(body, items)
      expect(remaining.isWellFormed()).toBe(true)
      const read = { remaining, copies: decodeCopies(encodeCopies(copies)) }
      expect(restoreFromItems(read, (position) => items[position] ?? null)).toBe(body)
    }),
  )
})

test('restoreFromItems returns null if an item is missing or too short', () => {
  const text = inner('words and words '.repeat(10))
  const deduplicated = deduplicateAgainstItems(bodyOf([text]), [itemOf(text)])
  expect(restoreFromItems(deduplicated, () => null)).toBeNull()
  expect(restoreFromItems(deduplicated, () => itemOf('words'))).toBeNull()
})
