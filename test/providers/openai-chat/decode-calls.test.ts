/** Decodes tool calls from streams in which index, id and name deviate from the documented form. */
import { describe, expect, test } from 'vitest'
import type { Item } from '../../../src/core/item.ts'
import type { JsonObject } from '../../../src/core/json/json.ts'
import { openaiChat } from '../../../src/providers/openai-chat/openai-chat.ts'
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
} from './kit.ts'

function callsChunk(...fragments: readonly JsonObject[]): JsonObject {
  return chunk({ tool_calls: fragments })
}

function listCallIds(items: readonly Item[]): readonly string[] {
  return items.flatMap((item) => (item.type === 'function_call' ? [item.call_id] : []))
}

test('a decoded call is joined from the fragments of one index and starts with its name and id', () => {
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

test('interleaved calls are kept apart, and several fragments of a chunk are read in order', () => {
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

test('text and reasoning end when a call starts, and blank lines after it are ignored', () => {
  expect(
    decode(
      chunk({ reasoning: 'Hm' }),
      chunk({ content: 'Wait' }),
      callsChunk({ index: 0, id: 'a', function: { name: 'f', arguments: '{}' } }),
      chunk({ content: '\n' }),
    ),
  ).toEqual([reasoning('Hm'), assistant('Wait'), call('a', 'f', '{}')])
})

test('calls are decoded whatever the finish reason is', () => {
  const events = decodeChunks([
    callsChunk({ index: 0, id: 'a', function: { name: 'f', arguments: '{}' } }),
    finish('stop'),
    DONE,
  ])
  expect(itemsIn(events)).toEqual([call('a', 'f', '{}')])
})

describe('call ids in a chat stream', () => {
  test('call ids in later fragments may be empty, null or repeated', () => {
    const later = ['', null, 'a', undefined].map((id) =>
      callsChunk({ index: 0, ...(id === undefined ? {} : { id }), function: { arguments: 'x' } }),
    )
    expect(
      decode(callsChunk({ index: 0, id: 'a', function: { name: 'f', arguments: '' } }), ...later),
    ).toEqual([call('a', 'f', 'xxxx')])
  })

  test('call ids that repeat with the name in every fragment belong to one call', () => {
    const fragmentOf = (text: string) =>
      callsChunk({ index: 0, id: '0', type: 'function', function: { name: 'f', arguments: text } })
    expect(decode(fragmentOf(''), fragmentOf('{'), fragmentOf('}'))).toEqual([call('0', 'f', '{}')])
  })

  test('call ids that are missing or repeated are generated, deterministic and unique', () => {
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

  test('call ids that are generated differ from all ids in the conversation and in its next answers', () => {
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

  test('call ids that are numbers become text', () => {
    expect(listCallIds(decode(callsChunk({ index: 0, id: 7, function: { name: 'f' } })))).toEqual([
      '7',
    ])
  })
})

describe('call indexes in a chat stream', () => {
  test('call indexes that are missing are replaced by the id', () => {
    expect(
      decode(
        callsChunk({ id: 'a', function: { name: 'f', arguments: '{' } }),
        callsChunk({ id: 'b', function: { name: 'g', arguments: '{}' } }),
        callsChunk({ id: 'a', function: { arguments: '}' } }),
      ),
    ).toEqual([call('a', 'f', '{}'), call('b', 'g', '{}')])
  })

  test('without call ids and indexes, a fragment belongs to the last call', () => {
    expect(
      decode(
        callsChunk({ function: { name: 'f', arguments: '{' } }),
        callsChunk({ function: { arguments: '}' } }),
        callsChunk({ function: { name: 'g', arguments: '{"x":1}' } }),
      ).map((item) => (item.type === 'function_call' ? item.name + item.arguments : '')),
    ).toEqual(['f{}', 'g{"x":1}'])
  })

  test('call indexes that are the same for every call are distinguished by id or by complete arguments', () => {
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
  test('call names that come late delay the start of the call', () => {
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

  test('call names that never come make the answer a failure', () => {
    const events = decodeChunks([
      callsChunk({ index: 0, id: 'a', function: { arguments: '{}' } }),
      DONE,
    ])
    expect(getFailure(events)?.message).toBe('The upstream made a tool call without a name.')
  })
})

describe('custom, legacy and unusual calls in a chat stream', () => {
  test('custom calls are decoded with their input', () => {
    const custom = (body: JsonObject) =>
      callsChunk({ index: 0, id: 'a', type: 'custom', custom: body })
    expect(decode(custom({ name: 'sh', input: 'l' }), custom({ input: 's' }))).toEqual([
      { type: 'custom_tool_call', call_id: 'a', name: 'sh', input: 'ls' },
    ])
  })

  test('calls of custom tools that were sent as functions become custom calls', () => {
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

  test('the deprecated `function_call` becomes a call', () => {
    const items = decode(
      chunk({ function_call: { name: 'f', arguments: '{' } }),
      chunk({ function_call: { arguments: '}' } }),
    )
    expect(items).toMatchObject([{ name: 'f', arguments: '{}' }])
  })

  test('arguments of a call that are an object become JSON text', () => {
    expect(
      decode(callsChunk({ index: 0, id: 'a', function: { name: 'f', arguments: { x: 1 } } })),
    ).toEqual([call('a', 'f', '{"x":1}')])
  })

  test('a thought signature is stored with its call or its message', () => {
    const signed = { google: { thought_signature: 's' } }
    expect(
      decode(callsChunk({ index: 0, id: 'a', function: { name: 'f' }, extra_content: signed })),
    ).toEqual([call('a', 'f', '', { $entry: { extra_content: signed } })])
    expect(decode(chunk({ content: 'a', extra_content: signed }))).toEqual([
      { ...assistant('a'), native: { chat: { extra_content: signed } } },
    ])
  })
})

test('a non-streamed answer has one call for each entry even if ids repeat', () => {
  const entry = { id: '', type: 'function', function: { name: 'f', arguments: '{}' } }
  const message = { role: 'assistant', content: null, tool_calls: [entry, entry] }
  const body = { id: 'up-1', choices: [{ index: 0, message, finish_reason: 'stop' }] }
  const items = itemsIn(openaiChat.decodeBody(body, accountOf()))
  expect(new Set(listCallIds(items)).size).toBe(2)
})
