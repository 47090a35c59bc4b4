import { describe, expect, test } from 'vitest'
import type { StreamEvent } from '../../../../src/core/stream-event.ts'
import type { JsonObject } from '../../../../src/core/json/json.ts'
import {
  fillStreamToolCallIds,
  fillAnswerToolCallIds,
} from '../../../../src/dialects/chat/render/fill-tool-call-ids.ts'
import { call, assistant } from '../kit.ts'

function message(...entries: readonly JsonObject[]) {
  const choices = [{ index: 0, delta: { tool_calls: entries } }]
  return { data: JSON.stringify({ id: 'up', choices, x: 1 }) }
}

function startEvents(...ids: readonly string[]): readonly StreamEvent[] {
  return ids.map((id, index) => ({ type: 'item-started', index, item: call(id) }))
}

const LOOK = { type: 'function', function: { name: 'look', arguments: '{}' } }

test('fillStreamToolCallIds inserts the recorded id into a call without one', () => {
  for (const id of [{}, { id: '' }, { id: null }]) {
    const patched = fillStreamToolCallIds(
      message({ index: 0, ...LOOK, ...id }),
      startEvents('call_1'),
    )
    expect(JSON.parse(patched.data)).toEqual(
      JSON.parse(message({ index: 0, ...LOOK, id: 'call_1' }).data),
    )
  }
})

test('fillStreamToolCallIds inserts the id of each of several calls, and leaves a continued call unchanged', () => {
  const more = { index: 0, function: { arguments: '}' } }
  const twice = message(more, { index: 1, id: 'a', ...LOOK }, { index: 2, id: 'a', ...LOOK })
  const patched = fillStreamToolCallIds(twice, startEvents('a', 'call_2'))
  expect(JSON.parse(patched.data)).toEqual(
    JSON.parse(
      message(more, { index: 1, id: 'a', ...LOOK }, { index: 2, id: 'call_2', ...LOOK }).data,
    ),
  )
})

test('fillStreamToolCallIds returns the same message if its calls have ids, or if no call starts in it', () => {
  const complete = message({ index: 0, id: 'a', ...LOOK })
  expect(fillStreamToolCallIds(complete, startEvents('a'))).toBe(complete)
  const later = message({ index: 0, id: '', function: { arguments: '}' } })
  expect(fillStreamToolCallIds(later, [{ type: 'arguments-delta', index: 0, text: '}' }])).toBe(
    later,
  )
  expect(
    fillStreamToolCallIds(later, [{ type: 'item-started', index: 0, item: assistant() }]),
  ).toBe(later)
})

describe('the call ids of a non-streamed chat answer', () => {
  const body = (...ids: readonly string[]): JsonObject => ({
    id: 'up',
    choices: [
      { index: 0, message: { content: null, tool_calls: ids.map((id) => ({ id, ...LOOK })) } },
      { index: 1, message: { content: 'x' } },
    ],
  })

  test('fillAnswerToolCallIds inserts ids in the order of the calls', () => {
    const filled = fillAnswerToolCallIds(body('', 'a', 'a'), [
      assistant('x'),
      call('c1'),
      call('a'),
      call('c2'),
    ])
    expect(filled).toEqual(body('c1', 'a', 'c2'))
  })

  test('fillAnswerToolCallIds returns the same object if no id is missing', () => {
    const complete = body('a', 'b')
    expect(fillAnswerToolCallIds(complete, [call('a'), call('b')])).toBe(complete)
    expect(fillAnswerToolCallIds(complete, [])).toBe(complete)
  })
})
