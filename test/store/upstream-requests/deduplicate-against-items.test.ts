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

test('what an item says is not in what is left', () => {
  const long = ['"Naïve"\n'.repeat(40), 'b😀\\'.repeat(60)]
  const { left, copies } = deduplicateAgainstItems(
    bodyOf([...long, 'short']),
    [...long, 'short'].map(itemOf),
  )
  expect(copies).toHaveLength(2)
  expect(left).toBe(
    '{"model":"m","messages":[{"role":"user","content":""},{"role":"user","content":""},{"role":"user","content":"short"}]}',
  )
})

test('a text that is written otherwise than its item is kept', () => {
  const text = 'ï'.repeat(200)
  const body = bodyOf([text]).replaceAll('ï', '\\u00ef')
  expect(deduplicateAgainstItems(body, [itemOf(text)])).toEqual({ left: body, copies: [] })
})

test('items that are not said do not have the text read without end', () => {
  const items = Array.from({ length: 10_000 }, (_, at) => itemOf(`${at} `.repeat(50)))
  const body = bodyOf(['x'.repeat(1_000_000)])
  const before = performance.now()
  expect(deduplicateAgainstItems(body, items).left).toBe(body)
  expect(performance.now() - before).toBeLessThan(500)
})

test('nor does an item of many strings have its end looked for without end', () => {
  const texts = Array.from({ length: 20_000 }, (_, at) => `${at} `.padEnd(70, 'x'))
  const part = (type: string) => texts.map((text) => ({ type, text }))
  const tail = Array.from({ length: 400_000 }, () => 1)
  const item = JSON.stringify({ type: 'message', content: part('input_text'), tail })
  const body = JSON.stringify({ messages: [{ role: 'user', content: part('text') }] })
  const before = performance.now()
  expect(deduplicateAgainstItems(body, [item]).copies).toHaveLength(texts.length)
  expect(performance.now() - before).toBeLessThan(500)
})

test('whatever the text and whatever the items, the text comes back', () => {
  const piece = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 30 }),
    fc.constantFrom('"', '\\', '":"', '😀', '\ud83d', 'words and words '.repeat(10)),
  )
  const words = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(''))
  fc.assert(
    fc.property(fc.array(words, { maxLength: 8 }), fc.array(words), (said, others) => {
      const items = [...said, ...others].map(itemOf)
      const body = bodyOf(said).toWellFormed()
      const { left, copies } = deduplicateAgainstItems(body, items)
      expect(left.isWellFormed()).toBe(true)
      const read = { left, copies: decodeCopies(encodeCopies(copies)) }
      expect(restoreFromItems(read, (position) => items[position] ?? null)).toBe(body)
    }),
  )
})

test('without an item, or with one that is shorter, there is no text', () => {
  const text = inner('words and words '.repeat(10))
  const told = deduplicateAgainstItems(bodyOf([text]), [itemOf(text)])
  expect(restoreFromItems(told, () => null)).toBeNull()
  expect(restoreFromItems(told, () => itemOf('words'))).toBeNull()
})
