/** The test Open WebUI does what the real one was seen to do; else what is proven with it means nothing. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { JsonObject } from '../../src/core/json/json.ts'
import { answerReader, LONGEST_LINE_BYTES } from './open-webui/answer-reader.ts'
import { difference, type Expected } from './open-webui/oracle.ts'
import { pythonJson, rewrittenArguments } from './open-webui/python-json.ts'
import type { StoredItem } from './open-webui/stored-item.ts'
import { toBody, toInput } from './open-webui/to-body.ts'
import { toMessages } from './open-webui/to-messages.ts'
import { answerFaults } from './open-webui/watch.ts'

function chunk(delta: JsonObject): string {
  return `data: ${JSON.stringify({ choices: [{ index: 0, delta }] })}`
}

function event(type: string, more: JsonObject): string {
  return `data: ${JSON.stringify({ type: `response.${type}`, ...more })}`
}

function read(lines: readonly string[], kept: readonly StoredItem[] = []) {
  const reader = answerReader(kept)
  for (const line of lines) reader.line(line)
  return reader
}

const MARK = '[01KQZ3V8M6T2X9R4B7C9]: #'

function message(text: string): StoredItem {
  return { type: 'message', text }
}

test('text is kept to the letter, but for the blanks around the last of it', () => {
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

test('Stop keeps what has come, blanks and all, and no half-told call', () => {
  const call = { index: 0, id: 'c', function: { name: 'look', arguments: '{"at' } }
  const lines = [chunk({ content: 'tok0 tok1 ' }), chunk({ tool_calls: [call] })]
  expect(read(lines).stopped().items).toEqual([message('tok0 tok1 ')])
})

test('what is continued grows out of what is there', () => {
  const { items } = read([chunk({ content: '\n\nmore' })], [message('Body.')]).ended()
  expect(items).toEqual([message('Body.\n\nmore')])
})

test('calls are put together by their index, and written as Python would', () => {
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

test('details are merged by their index, and come back although the reasoning does not', () => {
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

test('thinking in the text is taken out of it, wherever it is cut', () => {
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

test('a line that is too long ends the turn, and leaves nothing of it', () => {
  const reader = read([chunk({ content: 'lost' })])
  expect(reader.line(`data: ${'x'.repeat(LONGEST_LINE_BYTES)}`)).toBe(false)
  expect(reader.ended()).toMatchObject({ items: [], error: 'Chunk too big' })
  expect(toMessages([])).toEqual([{ role: 'assistant', content: '' }])
})

test('an error counts only where there are no choices', () => {
  const error = { message: 'Too much.' }
  const both = { choices: [{ index: 0, delta: {} }], error }
  expect(read([`data: ${JSON.stringify(both)}`]).ended().error).toBeNull()
  expect(read([`data: ${JSON.stringify({ error })}`]).ended().error).toBe('Too much.')
})

test('usage is added up, which is why there may be one of it only', () => {
  const usage = `data: {"choices":[],"usage":{"prompt_tokens":100}}`
  expect(read([usage, usage, usage]).ended().usage).toEqual({ prompt_tokens: 300 })
})

test('of a response it reads the deltas, and believes its end', () => {
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

test('the output of a call that is a plain string is the end of a chat', () => {
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

test('an answer with tools comes back as messages around their results', () => {
  const call = { id: 'a', type: 'function', function: { name: 'look', arguments: '{}' } }
  expect(toMessages(ROUND)).toEqual([
    { role: 'assistant', content: 'Calling.', tool_calls: [call] },
    { role: 'tool', tool_call_id: 'a', content: 'fog' },
    { role: 'assistant', content: 'Fog.' },
  ])
})

test('half of a pair does not come back', () => {
  expect(toMessages(ROUND.filter(({ type }) => type !== 'function_call_output'))).toEqual([
    { role: 'assistant', content: 'Calling.\nFog.' },
  ])
  expect(toMessages(ROUND.filter(({ type }) => type !== 'function_call'))).toEqual([
    { role: 'assistant', content: 'Calling.\nFog.' },
  ])
})

test('a responses connection says the same without ids and without reasoning', () => {
  expect(toInput(toMessages(ROUND))).toEqual([
    { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Calling.' }] },
    { type: 'function_call', call_id: 'a', name: 'look', arguments: '{}' },
    { type: 'function_call_output', call_id: 'a', output: 'fog' },
    { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Fog.' }] },
  ])
  const system = { role: 'system', content: 'SYS' } as const
  const asking = { model: 'm', stream: true, tools: [], params: { max_tokens: 77, stop: ['END'] } }
  expect(toBody('responses', { ...asking, messages: [system] })).toEqual({
    stream: true,
    model: 'm',
    max_output_tokens: 77,
    input: [],
    instructions: 'SYS',
  })
})

test('JSON is written as Python writes it, and means the same', () => {
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
  more: Partial<Parameters<typeof answerFaults>[0]> = {},
) {
  return answerFaults({ ...WATCHED, lines: contents.map((content) => chunk({ content })), ...more })
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
])('it would show the marker in %j', (contents, faults) => {
  expect(faultsIn(contents)).toEqual(faults)
})

test('it cannot bear what would harm a stored chat', () => {
  expect(faultsIn([`${MARK}\n\n`], { isTask: true })).toEqual(['a marker in the answer to a task'])
  expect(faultsIn(['more'], { isContinued: true })).toHaveLength(1)
  expect(faultsIn(['\n\nmore'], { isContinued: true })).toEqual([])
  expect(faultsIn(['x'.repeat(70_000)])).toEqual(['a line over 64 KiB'])
  expect(faultsIn([], { lines: ['data: {"event":{"type":"execute"}}'] })).toHaveLength(1)
  expect(faultsIn([], { lines: ['data: {"event":{"type":"status"}}'] })).toEqual([])
  expect(faultsIn(['A.'], { isWhole: true })).toEqual(['0 chunks with usage', 'no [DONE]'])
})

function said(...lines: readonly string[]): Expected {
  return { lines, words: null, isFindable: true }
}

test('the perfect memory misses what is gone, and notices what does not belong', () => {
  const expected = [said('user: Q'), said('thought: a', 'text: A', 'text: B'), said('user: R')]
  const sent = ['user: Q', 'thought: a', 'text: A\n\nB', 'user: R']
  expect(difference(expected, sent)).toBeNull()
  expect(difference(expected, sent.toSpliced(1, 1))).toMatchObject({ missing: ['thought: a'] })
  expect(difference(expected, [...sent, 'thought: x'])).toMatchObject({ strange: ['thought: x'] })
  expect(difference(expected, sent.with(1, 'text: A\n\nB').with(2, 'thought: a'))).toEqual({
    missing: [],
    strange: [],
    isInOrder: false,
  })
})

test('it lets a person have the last word, and does not ask for what nobody can know', () => {
  const edited = { ...said('thought: a', 'text: A'), words: 'Mine.' }
  expect(difference([said('user: Q'), edited], ['user: Q', 'thought: a', 'text: Mine.'])).toBeNull()
  expect(difference([edited], ['thought: a', 'text: A'])).not.toBeNull()
  const lost = { ...said('thought: a', 'text: A'), isFindable: false }
  expect(difference([lost], ['text: A'])).toBeNull()
  expect(difference([lost], ['thought: b', 'text: A'])).toMatchObject({ strange: ['thought: b'] })
})
