/** Checks that the simulated Open WebUI behaves like the real one, because other tests rely on it. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { JsonObject } from '../../src/core/json/json.ts'
import { createAnswerReader, LONGEST_LINE_BYTES } from './open-webui/answer-reader.ts'
import { comparePrompt, type Expected } from './open-webui/oracle.ts'
import { pythonJson, rewrittenArguments } from './open-webui/python-json.ts'
import type { StoredItem } from './open-webui/stored-item.ts'
import { createRequestBody, toInput } from './open-webui/to-body.ts'
import { toMessages } from './open-webui/to-messages.ts'
import { findFaultsInAnswer } from './open-webui/check-answer.ts'

function chunk(delta: JsonObject): string {
  return `data: ${JSON.stringify({ choices: [{ index: 0, delta }] })}`
}

function event(type: string, more: JsonObject): string {
  return `data: ${JSON.stringify({ type: `response.${type}`, ...more })}`
}

function read(lines: readonly string[], kept: readonly StoredItem[] = []) {
  const reader = createAnswerReader(kept)
  for (const line of lines) reader.line(line)
  return reader
}

const MARK = '[01KQZ3V8M6T2X9R4B7C9]: #'

function message(text: string): StoredItem {
  return { type: 'message', text }
}

test('the simulated Open WebUI stores text unchanged, except for white space around the last text', () => {
  const lines = [chunk({ content: ' A \n' }), chunk({ reasoning_content: 'hm' })]
  const more = [chunk({ content: `\n\n${MARK}\n\n` }), chunk({ content: 'B  \n' }), 'data: [DONE]']
  const { items } = read([...lines, ...more]).ended()
  expect(items).toEqual([
    message(' A \n'),
    { type: 'reasoning', text: 'hm', details: [] },
    message(`${MARK}\n\nB`),
  ])
  expect(toMessages(items)).toEqual([{ role: 'assistant', content: ` A \n\n${MARK}\n\nB` }])
})

test('after Stop, the simulated Open WebUI keeps the text so far and drops an incomplete call', () => {
  const call = { index: 0, id: 'c', function: { name: 'look', arguments: '{"at' } }
  const lines = [chunk({ content: 'tok0 tok1 ' }), chunk({ tool_calls: [call] })]
  expect(read(lines).stopped().items).toEqual([message('tok0 tok1 ')])
})

test('the simulated Open WebUI appends the text of a continued answer to the existing text', () => {
  const { items } = read([chunk({ content: '\n\nmore' })], [message('Body.')]).ended()
  expect(items).toEqual([message('Body.\n\nmore')])
})

test("the simulated Open WebUI joins call deltas by their index, and stores arguments in Python's JSON format", () => {
  const tell = (index: number, id: string | null, args: string) =>
    chunk({ tool_calls: [{ index, id, function: { name: 'look', arguments: args } }] })
  const { items } = read([
    tell(0, 'a', '{"at":"Zür'),
    tell(1, 'b', '{}'),
    tell(0, null, 'ich"}'),
  ]).ended()
  expect(items).toEqual([
    { type: 'function_call', callId: 'a', name: 'look', args: '{"at": "Z\\u00fcrich"}' },
    { type: 'function_call', callId: 'b', name: 'look', args: '{}' },
  ])
})

test('the simulated Open WebUI merges reasoning details by index, and sends them back although it drops the reasoning', () => {
  const detail = (more: JsonObject) => chunk({ reasoning_details: [{ index: 0, ...more }] })
  const { items } = read([
    chunk({ reasoning: 'hm' }),
    detail({ type: 'reasoning.text', text: 'h' }),
    chunk({ content: 'So.' }),
    detail({ text: 'm', signature: 'sig' }),
  ]).ended()
  const details = [{ index: 0, type: 'reasoning.text', text: 'hm', signature: 'sig' }]
  expect(items).toEqual([{ type: 'reasoning', text: 'hm', details }, message('So.')])
  expect(toMessages(items)).toEqual([
    { role: 'assistant', content: 'So.', reasoning_details: details },
  ])
  expect(toMessages(items, true)[0]).toHaveProperty('reasoning_content', 'hm')
})

test('the simulated Open WebUI takes <think> tags out of the text, wherever the stream is cut', () => {
  const text = `Well. <think> hm </think>\n\n${MARK}\n\nSo.`
  fc.assert(
    fc.property(fc.integer({ min: 0, max: text.indexOf('k>\n') }), (cut) => {
      const parts = [text.slice(0, cut), text.slice(cut)]
      const { items } = read(parts.map((content) => chunk({ content }))).ended()
      expect(items).toEqual([
        message('Well.'),
        { type: 'reasoning', text: 'hm', details: [] },
        message(`${MARK}\n\nSo.`),
      ])
    }),
  )
})

test('in the simulated Open WebUI, a line that is too long ends the turn, and nothing of the answer is stored', () => {
  const reader = read([chunk({ content: 'lost' })])
  expect(reader.line(`data: ${'x'.repeat(LONGEST_LINE_BYTES)}`)).toBe(false)
  expect(reader.ended()).toMatchObject({ items: [], error: 'Chunk too big' })
  expect(toMessages([])).toEqual([{ role: 'assistant', content: '' }])
})

test('the simulated Open WebUI reads an error in a chunk only if the chunk has no choices', () => {
  const error = { message: 'Too much.' }
  const both = { choices: [{ index: 0, delta: {} }], error }
  expect(read([`data: ${JSON.stringify(both)}`]).ended().error).toBeNull()
  expect(read([`data: ${JSON.stringify({ error })}`]).ended().error).toBe('Too much.')
})

test('the simulated Open WebUI adds up the usage of all chunks, so a stream may have only one', () => {
  const usage = `data: {"choices":[],"usage":{"prompt_tokens":100}}`
  expect(read([usage, usage, usage]).ended().usage).toEqual({ prompt_tokens: 300 })
})

test('the simulated Open WebUI reads the deltas of a response, and replaces them by the items of its end', () => {
  const item = { type: 'message', content: [] }
  const told = [
    event('output_item.added', { output_index: 0, item }),
    event('output_text.delta', { output_index: 0, delta: 'So ' }),
    event('output_item.done', { output_index: 0, item: { type: 'message', content: [] } }),
  ]
  expect(read(told).stopped().items).toEqual([message('So ')])
  const output = [{ type: 'message', content: [{ type: 'output_text', text: 'Or so.' }] }]
  const ended = event('completed', { response: { id: 'resp_1', output } })
  expect(read([...told, ended]).ended()).toMatchObject({
    items: [message('Or so.')],
    responseId: 'resp_1',
  })
  expect(read([...told, event('completed', { response: { output: [] } })]).ended().items).toEqual(
    [],
  )
})

test('in the simulated Open WebUI, a call output that is a plain string breaks the chat', () => {
  const item = { type: 'function_call_output', call_id: 'c', output: 'fog' }
  const call = { type: 'function_call', call_id: 'c', name: 'look', arguments: '{}' }
  const { items } = read([
    event('output_item.added', { output_index: 0, item: call }),
    event('output_item.added', { output_index: 1, item }),
  ]).ended()
  expect(() => toMessages(items)).toThrow('plain string')
})

const ROUND: readonly StoredItem[] = [
  { type: 'reasoning', text: 'hm', details: [] },
  message('Calling.'),
  { type: 'function_call', callId: 'a', name: 'look', args: '{}' },
  { type: 'function_call_output', callId: 'a', parts: ['fog'] },
  message('Fog.'),
]

test('the simulated Open WebUI sends an answer with tools as messages around the tool results', () => {
  const call = { id: 'a', type: 'function', function: { name: 'look', arguments: '{}' } }
  expect(toMessages(ROUND)).toEqual([
    { role: 'assistant', content: 'Calling.', tool_calls: [call] },
    { role: 'tool', tool_call_id: 'a', content: 'fog' },
    { role: 'assistant', content: 'Fog.' },
  ])
})

test('the simulated Open WebUI sends neither a call without its output nor an output without its call', () => {
  expect(toMessages(ROUND.filter(({ type }) => type !== 'function_call_output'))).toEqual([
    { role: 'assistant', content: 'Calling.\nFog.' },
  ])
  expect(toMessages(ROUND.filter(({ type }) => type !== 'function_call'))).toEqual([
    { role: 'assistant', content: 'Calling.\nFog.' },
  ])
})

test('the simulated Open WebUI sends the same items on a Responses connection, without ids and reasoning', () => {
  expect(toInput(toMessages(ROUND))).toEqual([
    { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Calling.' }] },
    { type: 'function_call', call_id: 'a', name: 'look', arguments: '{}' },
    { type: 'function_call_output', call_id: 'a', output: 'fog' },
    { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Fog.' }] },
  ])
  const system = { role: 'system', content: 'SYS' } as const
  const asking = { model: 'm', stream: true, tools: [], params: { max_tokens: 77, stop: ['END'] } }
  expect(createRequestBody('responses', { ...asking, messages: [system] })).toEqual({
    stream: true,
    model: 'm',
    max_output_tokens: 77,
    input: [],
    instructions: 'SYS',
  })
})

test("JSON that is written in Python's format is read as the same value", () => {
  expect(pythonJson({ a: [1, 'ü🦊'], b: null })).toBe(
    '{"a": [1, "\\u00fc\\ud83e\\udd8a"], "b": null}',
  )
  expect(rewrittenArguments('{broken')).toBe('{broken')
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(JSON.parse(pythonJson(value))).toEqual(JSON.parse(JSON.stringify(value)))
    }),
  )
})

const WATCHED = {
  connection: 'chat',
  isKnown: true,
  isContinued: false,
  isTask: false,
  isWhole: false,
} as const

function faultsIn(
  contents: readonly string[],
  more: Partial<Parameters<typeof findFaultsInAnswer>[0]> = {},
) {
  return findFaultsInAnswer({
    ...WATCHED,
    lines: contents.map((content) => chunk({ content })),
    ...more,
  })
}

test.each([
  [['A.', `\n\n${MARK}\n\n`, 'B.'], []],
  [[`${MARK}\n\n`, 'B.'], []],
  [['A.', `\n${MARK}\n\n`], ['no blank line above a marker']],
  [['A.', `\n\n${MARK}\n`, 'B.'], ['no blank line below a marker']],
  [['A.\n\n[01KQZ3V8M6', 'T2X9R4B7C9]: #\n\n'], ['a marker in pieces']],
  [['```js\n1\n', `\n\n${MARK}\n\n`], ['a marker in a fence']],
  [['```js\n1\n```', `\n\n${MARK}\n\n`], []],
  [['~~~~\n~~~\n', `\n\n${MARK}\n\n`], ['a marker in a fence']],
])('the check of Open WebUI answers reports a badly placed marker in %j', (contents, faults) => {
  expect(faultsIn(contents)).toEqual(faults)
})

test('the check of Open WebUI answers reports those that would damage a stored chat', () => {
  expect(faultsIn([`${MARK}\n\n`], { isTask: true })).toEqual(['a marker in the answer to a task'])
  expect(faultsIn(['more'], { isContinued: true })).toHaveLength(1)
  expect(faultsIn(['\n\nmore'], { isContinued: true })).toEqual([])
  expect(faultsIn(['x'.repeat(70_000)])).toEqual(['a line over 64 KiB'])
  expect(faultsIn([], { lines: ['data: {"event":{"type":"execute"}}'] })).toHaveLength(1)
  expect(faultsIn([], { lines: ['data: {"event":{"type":"status"}}'] })).toEqual([])
  expect(faultsIn(['A.'], { isWhole: true })).toEqual(['0 chunks with usage', 'no [DONE]'])
})

function expectedLines(...lines: readonly string[]): Expected {
  return { lines, words: null, isFindable: true }
}

test('the Open WebUI oracle reports missing and unexpected lines of a prompt', () => {
  const expected = [
    expectedLines('user: Q'),
    expectedLines('thought: a', 'text: A', 'text: B'),
    expectedLines('user: R'),
  ]
  const sent = ['user: Q', 'thought: a', 'text: A\n\nB', 'user: R']
  expect(comparePrompt(expected, sent)).toBeNull()
  expect(comparePrompt(expected, sent.toSpliced(1, 1))).toMatchObject({ missing: ['thought: a'] })
  expect(comparePrompt(expected, [...sent, 'thought: x'])).toMatchObject({
    strange: ['thought: x'],
  })
  expect(comparePrompt(expected, sent.with(1, 'text: A\n\nB').with(2, 'thought: a'))).toEqual({
    missing: [],
    strange: [],
    isInOrder: false,
  })
})

test("the Open WebUI oracle prefers the user's edit, and ignores items that cannot be found again", () => {
  const edited = { ...expectedLines('thought: a', 'text: A'), words: 'Mine.' }
  expect(
    comparePrompt([expectedLines('user: Q'), edited], ['user: Q', 'thought: a', 'text: Mine.']),
  ).toBeNull()
  expect(comparePrompt([edited], ['thought: a', 'text: A'])).not.toBeNull()
  const lost = { ...expectedLines('thought: a', 'text: A'), isFindable: false }
  expect(comparePrompt([lost], ['text: A'])).toBeNull()
  expect(comparePrompt([lost], ['thought: b', 'text: A'])).toMatchObject({
    strange: ['thought: b'],
  })
})
