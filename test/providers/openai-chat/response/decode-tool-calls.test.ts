/** Decodes tool calls from streams in which index, id and name deviate from the documented form. */
import { describe, expect, test } from 'vitest'
import type { Item } from '../../../../src/core/item.ts'
import type { JsonObject } from '../../../../src/core/json/json.ts'
import { openaiChat } from '../../../../src/providers/openai-chat/openai-chat.ts'
import {
  accountOf,
  assistant,
  call,
  chunk,
  DONE,
  getFailure,
  finish,
  decode,
  itemsIn,
  promptOf,
  decodeChunks,
  reasoning,
  user,
} from '../kit.ts'

function callsChunk(...fragments: readonly JsonObject[]): JsonObject {
  return chunk({ tool_calls: fragments })
}

function listCallIds(items: readonly Item[]): readonly string[] {
  return items.flatMap((item) => (item.type === 'function_call' ? [item.call_id] : []))
}

test('chat stream fragments with one index become one tool call, which starts with its name and id', () => {
  const events = decodeChunks([
    callsChunk({ index: 0, id: 'a', type: 'function', function: { name: 'look', arguments: '' } }),
    callsChunk({ index: 0, function: { arguments: '{"x"' } }),
    callsChunk({ index: 0, function: { arguments: ':1}' } }),
    finish('tool_calls'),
    DONE,
  ])
  expect(events.slice(1)).toEqual([
    { type: 'item-started', index: 0, item: call('a', 'look', '') },
    { type: 'arguments-delta', index: 0, text: '{"x"' },
    { type: 'arguments-delta', index: 0, text: ':1}' },
    { type: 'item-ended', index: 0, item: call('a', 'look', '{"x":1}') },
    { type: 'answer-ended', finish: 'stop', usage: null },
  ])
})

test('interleaved fragments in a chat stream become separate tool calls, in the order of each chunk', () => {
  expect(
    decode(
      callsChunk(
        { index: 0, id: 'a', function: { name: 'f' } },
        { index: 1, id: 'b', function: { name: 'g' } },
      ),
      callsChunk(
        { index: 1, function: { arguments: '[' } },
        { index: 0, function: { arguments: '{' } },
      ),
      callsChunk(
        { index: 0, function: { arguments: '"x"' } },
        { index: 0, function: { arguments: '}' } },
      ),
      callsChunk({ index: 1, function: { arguments: ']' } }),
    ),
  ).toEqual([call('a', 'f', '{"x"}'), call('b', 'g', '[]')])
})

test('text and reasoning in a chat stream end when a tool call starts, and blank lines after it are ignored', () => {
  expect(
    decode(
      chunk({ reasoning: 'Hm' }),
      chunk({ content: 'Wait' }),
      callsChunk({ index: 0, id: 'a', function: { name: 'f', arguments: '{}' } }),
      chunk({ content: '\n' }),
    ),
  ).toEqual([reasoning('Hm'), assistant('Wait'), call('a', 'f', '{}')])
})

test('tool calls in a chat stream are decoded with any finish reason', () => {
  const events = decodeChunks([
    callsChunk({ index: 0, id: 'a', function: { name: 'f', arguments: '{}' } }),
    finish('stop'),
    DONE,
  ])
  expect(itemsIn(events)).toEqual([call('a', 'f', '{}')])
})

describe('call ids in a chat stream', () => {
  test('later fragments of a tool call in a chat stream may have an empty, null or repeated id', () => {
    const later = ['', null, 'a', undefined].map((id) =>
      callsChunk({ index: 0, ...(id === undefined ? {} : { id }), function: { arguments: 'x' } }),
    )
    expect(
      decode(callsChunk({ index: 0, id: 'a', function: { name: 'f', arguments: '' } }), ...later),
    ).toEqual([call('a', 'f', 'xxxx')])
  })

  test('chat stream fragments that all repeat the id and the name belong to one tool call', () => {
    const fragmentOf = (text: string) =>
      callsChunk({ index: 0, id: '0', type: 'function', function: { name: 'f', arguments: text } })
    expect(decode(fragmentOf(''), fragmentOf('{'), fragmentOf('}'))).toEqual([call('0', 'f', '{}')])
  })

  test('tool calls in a chat stream without an id of their own get a deterministic and unique id', () => {
    const chunks = [
      callsChunk({ index: 0, id: '', function: { name: 'f', arguments: '{}' } }),
      callsChunk({ index: 1, function: { name: 'f', arguments: '{}' } }),
      callsChunk({ index: 2, id: 'a', function: { name: 'f', arguments: '{}' } }),
      callsChunk({ index: 3, id: 'a', function: { name: 'f', arguments: '{}' } }),
    ]
    const ids = listCallIds(decode(...chunks))
    expect(ids).toEqual(listCallIds(decode(...chunks)))
    expect(new Set(ids).size).toBe(4)
    expect(ids[2]).toBe('a')
    for (const id of ids.filter((one) => one !== 'a')) expect(id).toMatch(/^call_[0-9a-zA-Z]{9}$/)
  })

  test('generated call ids of a chat stream differ from all ids in the conversation and in its next answers', () => {
    const nameless = {
      choices: [{ index: 0, delta: { tool_calls: [{ function: { name: 'f' } }] } }],
    }
    const decodeAnswer = (items: readonly Item[]) => {
      const events = decodeChunks([nameless, finish(), DONE], {}, promptOf(items))
      return itemsIn(events)
    }
    // These answers have no id or time, and the questions are the same.
    let items: readonly Item[] = [user('Go on.')]
    for (let turn = 0; turn < 5; turn++) {
      const [generated] = decodeAnswer(items)
      expect(decodeAnswer(items)).toEqual([generated])
      expect(listCallIds(items)).not.toContain(
        listCallIds(generated === undefined ? [] : [generated])[0],
      )
      items = [...items, ...(generated === undefined ? [] : [generated]), user('Go on.')]
    }
    expect(new Set(listCallIds(items)).size).toBe(5)
    // The generated id is already in the conversation.
    const [first = ''] = listCallIds(decodeAnswer([user('Look.'), user('Go on.')]))
    const itemsWithId = [call(first), user('Go on.')]
    expect(listCallIds(decodeAnswer(itemsWithId))).not.toContain(first)
  })

  test('numeric call ids in a chat stream become text', () => {
    expect(listCallIds(decode(callsChunk({ index: 0, id: 7, function: { name: 'f' } })))).toEqual([
      '7',
    ])
  })
})

describe('call indexes in a chat stream', () => {
  test('chat stream fragments without an index are assigned to tool calls by id', () => {
    expect(
      decode(
        callsChunk({ id: 'a', function: { name: 'f', arguments: '{' } }),
        callsChunk({ id: 'b', function: { name: 'g', arguments: '{}' } }),
        callsChunk({ id: 'a', function: { arguments: '}' } }),
      ),
    ).toEqual([call('a', 'f', '{}'), call('b', 'g', '{}')])
  })

  test('a chat stream fragment without an index and an id belongs to the last tool call', () => {
    expect(
      decode(
        callsChunk({ function: { name: 'f', arguments: '{' } }),
        callsChunk({ function: { arguments: '}' } }),
        callsChunk({ function: { name: 'g', arguments: '{"x":1}' } }),
      ).map((item) => (item.type === 'function_call' ? item.name + item.arguments : '')),
    ).toEqual(['f{}', 'g{"x":1}'])
  })

  test('tool calls that share an index in a chat stream are told apart by id or by complete arguments', () => {
    const named = (id: string, name: string) =>
      callsChunk({ index: 0, id, function: { name, arguments: '{"x":1}' } })
    expect(decode(named('a', 'f'), named('b', 'g'))).toEqual([
      call('a', 'f', '{"x":1}'),
      call('b', 'g', '{"x":1}'),
    ])
    expect(decode(named('', 'f'), named('', 'f'))).toHaveLength(2)
  })
})

describe('call names in a chat stream', () => {
  test('a tool call in a chat stream starts only when its name arrives', () => {
    const events = decodeChunks([
      callsChunk({ index: 0, id: 'a', function: { arguments: '{"x"' } }),
      callsChunk({ index: 0, function: { name: 'f', arguments: ':1' } }),
      callsChunk({ index: 0, function: { name: '', arguments: '}' } }),
      finish(),
      DONE,
    ])
    expect(events[1]).toEqual({ type: 'item-started', index: 0, item: call('a', 'f', '') })
    expect(itemsIn(events)).toEqual([call('a', 'f', '{"x":1}')])
  })

  test('a tool call without a name makes a chat answer a failure', () => {
    const events = decodeChunks([
      callsChunk({ index: 0, id: 'a', function: { arguments: '{}' } }),
      DONE,
    ])
    expect(getFailure(events)?.message).toBe('The upstream made a tool call without a name.')
  })
})

describe('custom, deprecated and unusual calls in a chat stream', () => {
  test('a custom tool call in a chat stream is decoded with its input', () => {
    const custom = (body: JsonObject) =>
      callsChunk({ index: 0, id: 'a', type: 'custom', custom: body })
    expect(decode(custom({ name: 'sh', input: 'l' }), custom({ input: 's' }))).toEqual([
      { type: 'custom_tool_call', call_id: 'a', name: 'sh', input: 'ls' },
    ])
  })

  test('a function call of a custom tool that was sent as a function becomes a custom tool call', () => {
    const tool = { type: 'custom', name: 'sh', description: null, format: null } as const
    const prompt = promptOf([], { tools: [tool] })
    const chunksOf = (text: string) => [
      callsChunk({ index: 0, id: 'a', function: { name: 'sh', arguments: text.slice(0, 4) } }),
      callsChunk({ index: 0, function: { arguments: text.slice(4) } }),
      finish(),
      DONE,
    ]
    const decodeInput = (text: string) => itemsIn(decodeChunks(chunksOf(text), {}, prompt))
    expect(decodeInput('{"input":"ls \\"a\\""}')).toEqual([
      { type: 'custom_tool_call', call_id: 'a', name: 'sh', input: 'ls "a"' },
    ])
    // Arguments that do not match the schema become the input unchanged.
    expect(decodeInput('ls -la')).toMatchObject([{ input: 'ls -la' }])
    expect(itemsIn(decodeChunks(chunksOf('{"input":"ls"}')))).toMatchObject([
      { type: 'function_call' },
    ])
  })

  test('the deprecated `function_call` in a chat stream becomes a tool call', () => {
    const items = decode(
      chunk({ function_call: { name: 'f', arguments: '{' } }),
      chunk({ function_call: { arguments: '}' } }),
    )
    expect(items).toMatchObject([{ name: 'f', arguments: '{}' }])
  })

  test('arguments that a chat service sends as an object become JSON text', () => {
    expect(
      decode(callsChunk({ index: 0, id: 'a', function: { name: 'f', arguments: { x: 1 } } })),
    ).toEqual([call('a', 'f', '{"x":1}')])
  })

  test('a thought signature in a chat stream is stored with its tool call or its message', () => {
    const signed = { google: { thought_signature: 's' } }
    expect(
      decode(callsChunk({ index: 0, id: 'a', function: { name: 'f' }, extra_content: signed })),
    ).toEqual([call('a', 'f', '', { $entry: { extra_content: signed } })])
    expect(decode(chunk({ content: 'a', extra_content: signed }))).toEqual([
      { ...assistant('a'), native: { chat: { extra_content: signed } } },
    ])
  })
})

test('a non-streamed chat answer has one tool call for each entry even if ids repeat', () => {
  const entry = { id: '', type: 'function', function: { name: 'f', arguments: '{}' } }
  const message = { role: 'assistant', content: null, tool_calls: [entry, entry] }
  const body = { id: 'up-1', choices: [{ index: 0, message, finish_reason: 'stop' }] }
  const items = itemsIn(openaiChat.decodeBody(body, accountOf()))
  expect(new Set(listCallIds(items)).size).toBe(2)
})
