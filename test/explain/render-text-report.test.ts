import { expect, test } from 'vitest'
import type { JsonObject } from '../../src/core/json/json.ts'
import { renderTextReport } from '../../src/explain/render-text-report.ts'

const CUT = { sentence: 'It is older than the window.', by: 'window-turns' }

function item(place: number | null, fate: string, ...reasons: readonly JsonObject[]): JsonObject {
  const about = { type: 'message', role: 'user', preview: `words ${place}`, tokens: 9, place, fate }
  return reasons.length === 0 ? about : { ...about, reasons }
}

function linesOf(list: readonly JsonObject[], more: JsonObject = {}): readonly string[] {
  const upstream = { model: 'm', name: 'n', wire: 'chat' }
  return renderTextReport({ upstream, items: { list }, ...more }).split('\n')
}

test('the text report of explain has one line per item and lists each reason once', () => {
  const unsigned = { sentence: 'It has no signature.', by: 'gemini' }
  const dropped = Array.from({ length: 60 }, (_, at) => item(at, 'dropped', CUT))
  const lines = linesOf([
    ...dropped,
    item(60, 'changed', CUT, unsigned),
    item(null, 'added', { sentence: 'A note.' }),
    item(61, 'sent'),
  ])
  expect(lines.filter((line) => line.includes('words'))).toHaveLength(63)
  expect(lines.filter((line) => line.includes('older than'))).toEqual([
    'a   It is older than the window. (window-turns) 61 items.',
  ])
  expect(lines).toContain('b   It has no signature. (gemini)')
  expect(lines).toContain('c   A note.')
  const starts = lines.filter((line) => line.includes('words')).map((line) => line.slice(0, 10))
  expect(starts.slice(-4)).toEqual(['- a     59', '~ a,b   60', '+ c       ', '=       61'])
})

test('the text report of explain has no column of letters if no item has a reason', () => {
  const lines = linesOf([item(0, 'sent')])
  expect(lines.filter((line) => line.startsWith('='))).toEqual([
    '= sent   ~ changed   - dropped   + added   > moved',
    `=     0  user           words 0${' '.repeat(47)} 9`,
  ])
})

test('no line of the text report exceeds 80 columns, for any number of reasons', () => {
  const reasons = Array.from({ length: 60 }, (_, at) => ({ sentence: `Reason ${at}. `.repeat(9) }))
  const lines = linesOf(reasons.map((reason, at) => item(at, 'changed', reason)))
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(80)
  const letters = lines.map((line) => /^(\w+) +Reason/.exec(line)?.[1]).filter(Boolean)
  expect(letters).toHaveLength(60)
  expect(new Set(letters).size).toBe(60)
})

test('if two requests are equal, the text report of explain names no position of a difference', () => {
  const cache = {
    previous: 'resp_1',
    prefix: { estimated_tokens: 12 },
    first_difference: null,
    cause: { sentence: 'Nothing is different.' },
  }
  expect(linesOf([], { cache })).toContain(
    'cache         12 tokens are unchanged. Nothing is different.',
  )
})

test('the text report of explain shows no byte offset for a value that is no longer in the request', () => {
  const cache = {
    previous: 'resp_1',
    prefix: { estimated_tokens: 12 },
    first_difference: { byte: null, path: 'tools[0]' },
    cause: { sentence: 'Why.' },
  }
  expect(linesOf([], { cache })).toContain(
    'cache         12 tokens are unchanged; tools[0] is no longer there. Why.',
  )
})
