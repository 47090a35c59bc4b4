/** Ids of calls that an upstream left out, as a client is told them that speaks its language. */
import { describe, expect, test } from 'vitest'
import type { StreamEvent } from '../../../../src/core/stream-event.ts'
import type { JsonObject } from '../../../../src/core/json/json.ts'
import {
  fillStreamToolCallIds,
  fillBodyToolCallIds,
} from '../../../../src/dialects/chat/render/insert-recorded-call-ids.ts'
import { call, said } from '../kit.ts'

function message(...entries: readonly JsonObject[]) {
  const choices = [{ index: 0, delta: { tool_calls: entries } }]
  return { data: JSON.stringify({ id: 'up', choices, x: 1 }) }
}

function begun(...ids: readonly string[]): readonly StreamEvent[] {
  return ids.map((id, index) => ({ type: 'item-started', index, item: call(id) }))
}

const LOOK = { type: 'function', function: { name: 'look', arguments: '{}' } }

test('a call without an id is told the one that was invented', () => {
  for (const id of [{}, { id: '' }, { id: null }]) {
    const told = fillStreamToolCallIds(message({ index: 0, ...LOOK, ...id }), begun('call_1'))
    expect(JSON.parse(told.data)).toEqual(
      JSON.parse(message({ index: 0, ...LOOK, id: 'call_1' }).data),
    )
  }
})

test('of several calls each is told its own, and what goes on with an earlier call is left alone', () => {
  const more = { index: 0, function: { arguments: '}' } }
  const twice = message(more, { index: 1, id: 'a', ...LOOK }, { index: 2, id: 'a', ...LOOK })
  const told = fillStreamToolCallIds(twice, begun('a', 'call_2'))
  expect(JSON.parse(told.data)).toEqual(
    JSON.parse(
      message(more, { index: 1, id: 'a', ...LOOK }, { index: 2, id: 'call_2', ...LOOK }).data,
    ),
  )
})

test('a message whose calls have ids, or that begins none, is the very same', () => {
  const own = message({ index: 0, id: 'a', ...LOOK })
  expect(fillStreamToolCallIds(own, begun('a'))).toBe(own)
  const later = message({ index: 0, id: '', function: { arguments: '}' } })
  expect(fillStreamToolCallIds(later, [{ type: 'arguments-delta', index: 0, text: '}' }])).toBe(
    later,
  )
  expect(fillStreamToolCallIds(later, [{ type: 'item-started', index: 0, item: said() }])).toBe(
    later,
  )
})

describe('a whole answer', () => {
  const body = (...ids: readonly string[]): JsonObject => ({
    id: 'up',
    choices: [
      { index: 0, message: { content: null, tool_calls: ids.map((id) => ({ id, ...LOOK })) } },
      { index: 1, message: { content: 'x' } },
    ],
  })

  test('is told them in order', () => {
    const told = fillBodyToolCallIds(body('', 'a', 'a'), [
      said('x'),
      call('c1'),
      call('a'),
      call('c2'),
    ])
    expect(told).toEqual(body('c1', 'a', 'c2'))
  })

  test('is the very same where none is missing', () => {
    const own = body('a', 'b')
    expect(fillBodyToolCallIds(own, [call('a'), call('b')])).toBe(own)
    expect(fillBodyToolCallIds(own, [])).toBe(own)
  })
})
