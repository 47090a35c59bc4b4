import { expect, test } from 'vitest'
import type { Item } from '../../../src/core/item.ts'
import { formatMarkerLine } from '../../../src/core/markers/format-and-extract-markers.ts'
import { readOutputRange } from '../../../src/context/tool-outputs/read-output-range.ts'

const outputOf = (call_id: string, output: string): Item => ({
  type: 'function_call_output',
  call_id,
  output,
})
const items = [
  outputOf('a', '0123456789'),
  outputOf('b', 'x🦊y'),
  { type: 'opaque', raw: { type: 'shell_call_output', call_id: 'c' } } as const,
]
const maxChars = 100

test('reading an output range returns the requested characters and their range', () => {
  expect(readOutputRange(items, 'a', { from: 2, to: 5, maxChars })).toEqual({
    text: '234',
    from: 2,
    to: 5,
    totalChars: 10,
  })
  expect(readOutputRange(items, 'a', { maxChars })?.text).toBe('0123456789')
})

test('a requested range of an output is shortened to the allowed length, and ends where the output ends', () => {
  expect(readOutputRange(items, 'a', { from: 3, maxChars: 4 })).toMatchObject({ from: 3, to: 7 })
  expect(readOutputRange(items, 'a', { from: 8, to: 99, maxChars })?.text).toBe('89')
  expect(readOutputRange(items, 'a', { from: -5, to: 2, maxChars })?.text).toBe('01')
  expect(readOutputRange(items, 'a', { from: 50, to: 60, maxChars })).toMatchObject({ text: '' })
  expect(readOutputRange(items, 'a', { from: 5, to: 2, maxChars })).toMatchObject({ text: '' })
})

test('an output range counts characters without markers, like the note in the cut output', () => {
  const output = `So said ${formatMarkerLine('01KQZ3V8M6T2X9R4B7C9')} Ada`
  expect(readOutputRange([outputOf('m', output)], 'm', { from: 3, maxChars })).toEqual({
    text: 'said Ada',
    from: 3,
    to: 11,
    totalChars: 11,
  })
})

test('an output range splits no surrogate pair, and the next range continues at its end', () => {
  const first = readOutputRange(items, 'b', { to: 2, maxChars })
  expect(first?.text).toBe('x')
  expect(readOutputRange(items, 'b', { from: first?.to ?? 0, maxChars })?.text).toBe('🦊y')
  expect(readOutputRange(items, 'b', { from: 2, maxChars })?.text).toBe('🦊y')
})

test('an output range is read from the latest function or custom tool output with the call id', () => {
  expect(readOutputRange(items, 'c', { maxChars })).toBeNull()
  expect(readOutputRange(items, 'z', { maxChars })).toBeNull()
  expect(readOutputRange([...items, outputOf('a', 'new')], 'a', { maxChars })?.text).toBe('new')
})
