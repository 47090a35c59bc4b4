/** An upstream's own chunks, with our id and without what could harm a client. */
import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../../../src/core/json/json.ts'
import { chatDialect } from '../../../../src/dialects/chat/chat-dialect.ts'
import { createFailure } from '../../../../src/core/errors/gateway-error.ts'
import { answering, TURN } from '../kit.ts'

const OURS = `chatcmpl-${TURN}`
const HEAD = '{"id":"up-1","object":"chat.completion.chunk",'

function retouched(...all: readonly string[]): readonly string[] {
  const { patchMessage } = chatDialect.createPassThroughPatcher(answering())
  return all.map((data) => patchMessage({ data }).data)
}

test('only the id changes, every other character stays', () => {
  const odd = `${HEAD}  "created":1.50e3,"choices":[{"index":0,"delta":{"content":"\\u00e9 \\"id\\":\\"up-1\\""}}]}`
  const spaced = '{"choices": [], "id": "up-1", "x": "up-1"}'
  expect(retouched(odd, spaced, '[DONE]')).toEqual([
    odd.replace('"id":"up-1"', `"id":"${OURS}"`),
    spaced.replace('"id": "up-1"', `"id": "${OURS}"`),
    '[DONE]',
  ])
})

test('the event of a message, and a message that is not ours to change, stay as they are', () => {
  const { patchMessage } = chatDialect.createPassThroughPatcher(answering())
  const error = { event: 'error', data: '{"error":{"message":"no"}}' }
  const broken = { data: '{"id":' }
  expect(patchMessage(error)).toBe(error)
  expect(patchMessage(broken)).toBe(broken)
})

test("an id of nothing is ours as well, but a call's is not", () => {
  expect(
    retouched(
      '{"choices":[],"id":"","model":""}',
      '{"choices":[{"delta":{"tool_calls":[{"id":""}]}}],"id":""}',
      '{"choices":[{"delta":{"tool_calls":[{"id":""}]}}],"id":"up-1"}',
    ),
  ).toEqual([
    `{"choices":[],"id":"${OURS}","model":""}`,
    '{"choices":[{"delta":{"tool_calls":[{"id":""}]}}],"id":""}',
    `{"choices":[{"delta":{"tool_calls":[{"id":""}]}}],"id":"${OURS}"}`,
  ])
})

test('an id that is written in another way, or changes, is ours all the same', () => {
  const all = retouched('{"id" : "up-1","choices":[]}', `${HEAD}"choices":[]}`, '{"id":"up-2"}')
  for (const data of all) expect(JSON.parse(data)).toMatchObject({ id: OURS })
})

test('fields by which an upstream could reach into a client are dropped (C127)', () => {
  const hostile = { event: { type: 'execute' }, selected_model_id: 'x', sources: [1] }
  const clean = { id: 'up-1', choices: [{ index: 0, delta: { content: '"event" and sources' } }] }
  const hidden = `{"id":"up-1","\\u0065vent":{"type":"execute"},"choices":[]}`
  const call = { type: 'response.output_item.added', item: { type: 'function_call' } }
  const all = retouched(
    JSON.stringify({ ...clean, ...hostile }),
    hidden,
    JSON.stringify(call),
    JSON.stringify(clean),
  )
  expect(all.map((data) => JSON.parse(data) as JsonObject)).toEqual([
    { ...clean, id: OURS },
    { id: OURS, choices: [] },
    { item: { type: 'function_call' } },
    { ...clean, id: OURS },
  ])
})

describe('the ending begins', () => {
  const isEnding = (...all: readonly string[]) => {
    const retouch = chatDialect.createPassThroughPatcher(answering())
    return all.map((data) => {
      const message = { data }
      retouch.patchMessage(message)
      return retouch.startsEnding(message)
    })
  }
  const chunk = (choice: object) => JSON.stringify({ id: 'up-1', choices: [choice] })

  test('with the reason to finish of the first choice, and does not stop', () => {
    expect(
      isEnding(
        chunk({ index: 0, delta: { content: '"finish_reason":"stop"' }, finish_reason: null }),
        chunk({ index: 1, delta: {}, finish_reason: 'stop' }),
        chunk({ index: 0, delta: {}, native_finish_reason: 'stop', finish_reason: null }),
        chunk({ index: 0, delta: {}, finish_reason: 'stop' }),
        '{"choices":[]}',
      ),
    ).toEqual([false, false, false, true, true])
  })

  test('with the mark, or with an error', () => {
    expect(isEnding('[DONE]')).toEqual([true])
    expect(isEnding('{"error":{"message":"no"}}')).toEqual([true])
    expect(isEnding('{"error":null,"choices":[]}', 'no JSON "error"')).toEqual([false, false])
  })
})

test('a whole answer gets our id, an error stays what it is', () => {
  const { patchBody } = chatDialect.createPassThroughPatcher(answering())
  const body = { id: 'up-1', choices: [{ index: 0 }], event: {}, usage: { x: 1 } }
  expect(patchBody(body)).toEqual({ id: OURS, choices: [{ index: 0 }], usage: { x: 1 } })
  const error = { error: { message: 'no' } }
  expect(patchBody(error)).toBe(error)
})

test('a stream that broke ends with an error without choices, and the mark', () => {
  const { renderFailure } = chatDialect.createPassThroughPatcher(answering())
  expect(renderFailure(createFailure('upstream_broken', 'No.'))).toEqual([
    {
      data: '{"error":{"message":"No.","type":"server_error","param":null,"code":"upstream_broken"}}',
    },
    { data: '[DONE]' },
  ])
})
