/** Tool calls out of streams in which index, id and name come in every way but the documented one. */
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
  failureIn,
  finish,
  heard,
  itemsIn,
  promptOf,
  receive,
  thought,
  user,
} from './kit.ts'

function calls(...fragments: readonly JsonObject[]): JsonObject {
  return chunk({ tool_calls: fragments })
}

function idsOf(items: readonly Item[]): readonly string[] {
  return items.flatMap((item) => (item.type === 'function_call' ? [item.call_id] : []))
}

test('fragments of one index are one call, with name and id at its start', () => {
  const events = receive([
    calls({ index: 0, id: 'a', type: 'function', function: { name: 'look', arguments: '' } }),
    calls({ index: 0, function: { arguments: '{"x"' } }),
    calls({ index: 0, function: { arguments: ':1}' } }),
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

test('interleaved indices stay apart, several fragments of a chunk in order', () => {
  expect(
    heard(
      calls(
        { index: 0, id: 'a', function: { name: 'f' } },
        { index: 1, id: 'b', function: { name: 'g' } },
      ),
      calls({ index: 1, function: { arguments: '[' } }, { index: 0, function: { arguments: '{' } }),
      calls(
        { index: 0, function: { arguments: '"x"' } },
        { index: 0, function: { arguments: '}' } },
      ),
      calls({ index: 1, function: { arguments: ']' } }),
    ),
  ).toEqual([call('a', 'f', '{"x"}'), call('b', 'g', '[]')])
})

test('text and reasoning are over when a call begins; blank lines behind it are nothing', () => {
  expect(
    heard(
      chunk({ reasoning: 'Hm' }),
      chunk({ content: 'Wait' }),
      calls({ index: 0, id: 'a', function: { name: 'f', arguments: '{}' } }),
      chunk({ content: '\n' }),
    ),
  ).toEqual([thought('Hm'), assistant('Wait'), call('a', 'f', '{}')])
})

test('a call is a call whatever the reason to finish', () => {
  const events = receive([
    calls({ index: 0, id: 'a', function: { name: 'f', arguments: '{}' } }),
    finish('stop'),
    DONE,
  ])
  expect(itemsIn(events)).toEqual([call('a', 'f', '{}')])
})

describe('ids', () => {
  test('that are empty, null or repeated later change nothing', () => {
    const later = ['', null, 'a', undefined].map((id) =>
      calls({ index: 0, ...(id === undefined ? {} : { id }), function: { arguments: 'x' } }),
    )
    expect(
      heard(calls({ index: 0, id: 'a', function: { name: 'f', arguments: '' } }), ...later),
    ).toEqual([call('a', 'f', 'xxxx')])
  })

  test('that repeat with the name in every fragment are still one call', () => {
    const again = (text: string) =>
      calls({ index: 0, id: '0', type: 'function', function: { name: 'f', arguments: text } })
    expect(heard(again(''), again('{'), again('}'))).toEqual([call('0', 'f', '{}')])
  })

  test('that are missing are invented, the same each time, and never twice the same', () => {
    const twice = [
      calls({ index: 0, id: '', function: { name: 'f', arguments: '{}' } }),
      calls({ index: 1, function: { name: 'f', arguments: '{}' } }),
      calls({ index: 2, id: 'a', function: { name: 'f', arguments: '{}' } }),
      calls({ index: 3, id: 'a', function: { name: 'f', arguments: '{}' } }),
    ]
    const ids = idsOf(heard(...twice))
    expect(ids).toEqual(idsOf(heard(...twice)))
    expect(new Set(ids).size).toBe(4)
    expect(ids[2]).toBe('a')
    for (const id of ids.filter((one) => one !== 'a')) expect(id).toMatch(/^call_[0-9a-zA-Z]{9}$/)
  })

  test('that are invented are none that the conversation has, and others in its next answer', () => {
    const nameless = {
      choices: [{ index: 0, delta: { tool_calls: [{ function: { name: 'f' } }] } }],
    }
    const answered = (items: readonly Item[]) => {
      const events = receive([nameless, finish(), DONE], {}, promptOf(items))
      return itemsIn(events)
    }
    // Neither an id nor a time tells these answers apart, and all that is asked is the same.
    let items: readonly Item[] = [user('Go on.')]
    for (let turn = 0; turn < 5; turn++) {
      const [made] = answered(items)
      expect(answered(items)).toEqual([made])
      expect(idsOf(items)).not.toContain(idsOf(made === undefined ? [] : [made])[0])
      items = [...items, ...(made === undefined ? [] : [made]), user('Go on.')]
    }
    expect(new Set(idsOf(items)).size).toBe(5)
    // Not even one that happens to be what would be invented.
    const [first = ''] = idsOf(answered([user('Look.'), user('Go on.')]))
    const taken = [call(first), user('Go on.')]
    expect(idsOf(answered(taken))).not.toContain(first)
  })

  test('that are numbers are read as text', () => {
    expect(idsOf(heard(calls({ index: 0, id: 7, function: { name: 'f' } })))).toEqual(['7'])
  })
})

describe('indices', () => {
  test('that are missing are made up for by the id', () => {
    expect(
      heard(
        calls({ id: 'a', function: { name: 'f', arguments: '{' } }),
        calls({ id: 'b', function: { name: 'g', arguments: '{}' } }),
        calls({ id: 'a', function: { arguments: '}' } }),
      ),
    ).toEqual([call('a', 'f', '{}'), call('b', 'g', '{}')])
  })

  test('without an id as well, a fragment goes on with the last call', () => {
    expect(
      heard(
        calls({ function: { name: 'f', arguments: '{' } }),
        calls({ function: { arguments: '}' } }),
        calls({ function: { name: 'g', arguments: '{"x":1}' } }),
      ).map((item) => (item.type === 'function_call' ? item.name + item.arguments : '')),
    ).toEqual(['f{}', 'g{"x":1}'])
  })

  test('that are the same for every call are told apart by id, or by a whole new call', () => {
    const named = (id: string, name: string) =>
      calls({ index: 0, id, function: { name, arguments: '{"x":1}' } })
    expect(heard(named('a', 'f'), named('b', 'g'))).toEqual([
      call('a', 'f', '{"x":1}'),
      call('b', 'g', '{"x":1}'),
    ])
    expect(heard(named('', 'f'), named('', 'f'))).toHaveLength(2)
  })
})

describe('names', () => {
  test('that come later hold the call back until then', () => {
    const events = receive([
      calls({ index: 0, id: 'a', function: { arguments: '{"x"' } }),
      calls({ index: 0, function: { name: 'f', arguments: ':1' } }),
      calls({ index: 0, function: { name: '', arguments: '}' } }),
      finish(),
      DONE,
    ])
    expect(events[1]).toEqual({ type: 'item-started', index: 0, item: call('a', 'f', '') })
    expect(itemsIn(events)).toEqual([call('a', 'f', '{"x":1}')])
  })

  test('that never come make the answer a failure: nobody could answer such a call', () => {
    const events = receive([calls({ index: 0, id: 'a', function: { arguments: '{}' } }), DONE])
    expect(failureIn(events)?.message).toBe('The upstream made a tool call without a name.')
  })
})

describe('other kinds of calls', () => {
  test('custom ones have their input', () => {
    const custom = (body: JsonObject) => calls({ index: 0, id: 'a', type: 'custom', custom: body })
    expect(heard(custom({ name: 'sh', input: 'l' }), custom({ input: 's' }))).toEqual([
      { type: 'custom_tool_call', call_id: 'a', name: 'sh', input: 'ls' },
    ])
  })

  test('custom ones that went out as functions come back as what they are', () => {
    const tool = { type: 'custom', name: 'sh', description: null, format: null } as const
    const prompt = promptOf([], { tools: [tool] })
    const made = (text: string) => [
      calls({ index: 0, id: 'a', function: { name: 'sh', arguments: text.slice(0, 4) } }),
      calls({ index: 0, function: { arguments: text.slice(4) } }),
      finish(),
      DONE,
    ]
    const input = (text: string) => itemsIn(receive(made(text), {}, prompt))
    expect(input('{"input":"ls \\"a\\""}')).toEqual([
      { type: 'custom_tool_call', call_id: 'a', name: 'sh', input: 'ls "a"' },
    ])
    // A model that does not keep to the form is taken at its word.
    expect(input('ls -la')).toMatchObject([{ input: 'ls -la' }])
    expect(itemsIn(receive(made('{"input":"ls"}')))).toMatchObject([{ type: 'function_call' }])
  })

  test('the function_call of old is one as well', () => {
    const items = heard(
      chunk({ function_call: { name: 'f', arguments: '{' } }),
      chunk({ function_call: { arguments: '}' } }),
    )
    expect(items).toMatchObject([{ name: 'f', arguments: '{}' }])
  })

  test('arguments that come as an object become text', () => {
    expect(
      heard(calls({ index: 0, id: 'a', function: { name: 'f', arguments: { x: 1 } } })),
    ).toEqual([call('a', 'f', '{"x":1}')])
  })

  test('a thought signature stays with the call, or with the message that it came on', () => {
    const signed = { google: { thought_signature: 's' } }
    expect(
      heard(calls({ index: 0, id: 'a', function: { name: 'f' }, extra_content: signed })),
    ).toEqual([call('a', 'f', '', { $entry: { extra_content: signed } })])
    expect(heard(chunk({ content: 'a', extra_content: signed }))).toEqual([
      { ...assistant('a'), native: { chat: { extra_content: signed } } },
    ])
  })
})

test('whole answers give each entry its own call', () => {
  const entry = { id: '', type: 'function', function: { name: 'f', arguments: '{}' } }
  const message = { role: 'assistant', content: null, tool_calls: [entry, entry] }
  const body = { id: 'up-1', choices: [{ index: 0, message, finish_reason: 'stop' }] }
  const items = itemsIn(openaiChat.decodeBody(body, accountOf()))
  expect(new Set(idsOf(items)).size).toBe(2)
})
