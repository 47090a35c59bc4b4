/** Checks that markers are removed from everything that a model reads. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Item, Part, Role } from '../../../src/core/item.ts'
import { formatMarkerLine } from '../../../src/core/markers/format-and-extract-markers.ts'
import { stripMarkersFromPrompt } from '../../../src/context/cleaning/strip-markers-from-prompt.ts'
import {
  expectNotesMatchChanges,
  expectIdempotent,
  expectValidForProviders,
  expectPure,
} from '../../support/laws.ts'
import { tidyConversation } from '../../support/conversations.ts'

const MARKER = formatMarkerLine('01KQZ3V8M6T2X9R4B7C9')
const { run } = stripMarkersFromPrompt()

function message(role: Role, ...texts: readonly string[]): Item {
  const type = role === 'assistant' ? 'output_text' : 'input_text'
  return { type: 'message', role, content: texts.map((text): Part => ({ type, text })) }
}

test.each<Role>(['system', 'developer', 'user', 'assistant'])(
  'a marker is removed from a message with the role %s',
  (role) => {
    const { items, notes } = run([message('user', 'hi'), message(role, `${MARKER}\n\nServus`)])
    expect(items).toEqual([message('user', 'hi'), message(role, 'Servus')])
    expect(notes).toEqual([{ did: 'changed', at: 1, why: 'marker-removed' }])
  },
)

describe('removal of markers from tool outputs', () => {
  test.each(['function_call_output', 'custom_tool_call_output'] as const)(
    'a marker is removed from a %s',
    (type) => {
      const parts: readonly Part[] = [
        { type: 'input_image', image_url: 'https://a.b/c.png' },
        { type: 'input_text', text: `So\n\n${MARKER}` },
      ]
      const { items, notes } = run([
        { type, call_id: 'a', output: `So\n\n${MARKER}\n\nOh` },
        { type, call_id: 'b', output: parts },
        { type, call_id: 'c', output: 'So' },
      ])
      expect(items).toEqual([
        { type, call_id: 'a', output: 'So\n\nOh' },
        { type, call_id: 'b', output: [parts[0], { type: 'input_text', text: 'So' }] },
        { type, call_id: 'c', output: 'So' },
      ])
      expect(notes.map(({ at }) => at)).toEqual([0, 1])
    },
  )
})

test('a part that contains only a marker is dropped, unless it is the only part of its item', () => {
  const { items } = run([
    message('user', MARKER, 'Servus', ''),
    message('assistant', MARKER, MARKER),
  ])
  expect(items).toEqual([message('user', 'Servus', ''), message('assistant', '')])
})

test('stripping markers returns the same list if there is no marker', () => {
  const items = [message('user', '[servus]: #'), message('assistant', 'Servus')]
  expect(run(items).items).toBe(items)
})

test('a marker in a code block is removed like any other marker', () => {
  const [before, after] = [`\`\`\`\nx\n${MARKER}\n\`\`\``, '```\nx\n```']
  const { items } = run([message('user', before), message('assistant', before)])
  expect(items).toEqual([message('user', after), message('assistant', after)])
})

test('a marker in the arguments of a call is removed, and the arguments stay JSON', () => {
  const given = JSON.stringify({ q: `x\n\n${MARKER}\n\ny` })
  const { items, notes } = run([
    { type: 'function_call', call_id: 'a', name: 'f', arguments: given },
    { type: 'custom_tool_call', call_id: 'b', name: 'g', input: `> ${MARKER}\n\nSo` },
  ])
  expect(items).toEqual([
    { type: 'function_call', call_id: 'a', name: 'f', arguments: JSON.stringify({ q: 'x\n\ny' }) },
    { type: 'custom_tool_call', call_id: 'b', name: 'g', input: 'So' },
  ])
  expect(notes.map(({ why }) => why)).toEqual(['marker-removed', 'marker-removed'])
})

test('when a content part with only a marker is dropped, the entry of that part in the field `$parts` is dropped, too', () => {
  const native = { chat: { $parts: [null, { cache_control: {} }], name: 'a' } }
  const [item] = run([{ ...message('user', MARKER, 'Servus'), native }]).items
  expect(item).toEqual({ ...message('user', 'Servus'), native: { chat: { name: 'a' } } })
})

test('stripping markers does not modify its input, changes nothing in a second run, and has a note for each change', () => {
  const withMarks = fc
    .tuple(tidyConversation, fc.array(fc.nat({ max: 6 }), { minLength: 1, maxLength: 8 }))
    .map(([items, kinds]) =>
      items.map((item, at) => addMarkers(item, kinds[at % kinds.length] ?? 0)),
    )
  fc.assert(
    fc.property(withMarks, (items) => {
      expectPure(run, items)
      expectIdempotent(run, items)
      expectNotesMatchChanges(items, run(items))
      expectValidForProviders(run(items).items)
      expect(JSON.stringify(run(items).items)).not.toContain(MARKER)
    }),
    { numRuns: 200 },
  )
})

function addMarkers(item: Item, kind: number): Item {
  const text = [
    MARKER,
    `${MARKER}\n\nSo`,
    `So\n\n${MARKER}`,
    `> ${MARKER}`,
    `{"a":"${MARKER}\\n\\nSo"}`,
    `\`\`\`\n${MARKER}`,
  ][kind]
  if (text === undefined) return item
  if (item.type === 'function_call') return { ...item, arguments: text }
  if (item.type === 'function_call_output') return { ...item, output: text }
  if (item.type !== 'message') return item
  const type = item.role === 'assistant' ? 'output_text' : 'input_text'
  return { ...item, content: [...item.content, { type, text }] }
}
