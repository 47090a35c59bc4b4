/** No model sees a marker, whoever sends it. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Item, Part, Role } from '../../../src/core/item.ts'
import { formatMarkerLine } from '../../../src/core/markers/extract-turn-markers.ts'
import { stripMarkers } from '../../../src/context/cleaning/strip-markers-from-prompt.ts'
import { expectHonest, expectIdempotent, expectLawful, expectPure } from '../../support/laws.ts'
import { tidyConversation } from '../../support/conversations.ts'

const MARK = formatMarkerLine('01KQZ3V8M6T2X9R4B7C9')
const { run } = stripMarkers()

function message(role: Role, ...texts: readonly string[]): Item {
  const type = role === 'assistant' ? 'output_text' : 'input_text'
  return { type: 'message', role, content: texts.map((text): Part => ({ type, text })) }
}

test.each<Role>(['system', 'developer', 'user', 'assistant'])('a marker goes from %s', (role) => {
  const { items, notes } = run([message('user', 'hi'), message(role, `${MARK}\n\nServus`)])
  expect(items).toEqual([message('user', 'hi'), message(role, 'Servus')])
  expect(notes).toEqual([{ did: 'changed', at: 1, why: 'marker-removed' }])
})

describe('of the outputs of tools', () => {
  test.each(['function_call_output', 'custom_tool_call_output'] as const)('%s', (type) => {
    const parts: readonly Part[] = [
      { type: 'input_image', image_url: 'https://a.b/c.png' },
      { type: 'input_text', text: `So\n\n${MARK}` },
    ]
    const { items, notes } = run([
      { type, call_id: 'a', output: `So\n\n${MARK}\n\nOh` },
      { type, call_id: 'b', output: parts },
      { type, call_id: 'c', output: 'So' },
    ])
    expect(items).toEqual([
      { type, call_id: 'a', output: 'So\n\nOh' },
      { type, call_id: 'b', output: [parts[0], { type: 'input_text', text: 'So' }] },
      { type, call_id: 'c', output: 'So' },
    ])
    expect(notes.map(({ at }) => at)).toEqual([0, 1])
  })
})

test('a part of which nothing is left goes, unless it is the only one', () => {
  const { items } = run([message('user', MARK, 'Servus', ''), message('assistant', MARK, MARK)])
  expect(items).toEqual([message('user', 'Servus', ''), message('assistant', '')])
})

test('what holds none is the very same list', () => {
  const items = [message('user', '[servus]: #'), message('assistant', 'Servus')]
  expect(run(items).items).toBe(items)
})

test('in code a marker names nothing, and no model sees it there either', () => {
  const [before, after] = [`\`\`\`\nx\n${MARK}\n\`\`\``, '```\nx\n```']
  const { items } = run([message('user', before), message('assistant', before)])
  expect(items).toEqual([message('user', after), message('assistant', after)])
})

test('what a model has called with is free of them, and stays JSON', () => {
  const given = JSON.stringify({ q: `x\n\n${MARK}\n\ny` })
  const { items, notes } = run([
    { type: 'function_call', call_id: 'a', name: 'f', arguments: given },
    { type: 'custom_tool_call', call_id: 'b', name: 'g', input: `> ${MARK}\n\nSo` },
  ])
  expect(items).toEqual([
    { type: 'function_call', call_id: 'a', name: 'f', arguments: JSON.stringify({ q: 'x\n\ny' }) },
    { type: 'custom_tool_call', call_id: 'b', name: 'g', input: 'So' },
  ])
  expect(notes.map(({ why }) => why)).toEqual(['marker-removed', 'marker-removed'])
})

test('what is said of parts by their place goes with the part that goes', () => {
  const native = { chat: { $parts: [null, { cache_control: {} }], name: 'a' } }
  const [item] = run([{ ...message('user', MARK, 'Servus'), native }]).items
  expect(item).toEqual({ ...message('user', 'Servus'), native: { chat: { name: 'a' } } })
})

test('it keeps the laws where there are markers', () => {
  const withMarks = fc
    .tuple(tidyConversation, fc.array(fc.nat({ max: 6 }), { minLength: 1, maxLength: 8 }))
    .map(([items, kinds]) => items.map((item, at) => marked(item, kinds[at % kinds.length] ?? 0)))
  fc.assert(
    fc.property(withMarks, (items) => {
      expectPure(run, items)
      expectIdempotent(run, items)
      expectHonest(items, run(items))
      expectLawful(run(items).items)
      expect(JSON.stringify(run(items).items)).not.toContain(MARK)
    }),
    { numRuns: 200 },
  )
})

function marked(item: Item, kind: number): Item {
  const text = [
    MARK,
    `${MARK}\n\nSo`,
    `So\n\n${MARK}`,
    `> ${MARK}`,
    `{"a":"${MARK}\\n\\nSo"}`,
    `\`\`\`\n${MARK}`,
  ][kind]
  if (text === undefined) return item
  if (item.type === 'function_call') return { ...item, arguments: text }
  if (item.type === 'function_call_output') return { ...item, output: text }
  if (item.type !== 'message') return item
  const type = item.role === 'assistant' ? 'output_text' : 'input_text'
  return { ...item, content: [...item.content, { type, text }] }
}
