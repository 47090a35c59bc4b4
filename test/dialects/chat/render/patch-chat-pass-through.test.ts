import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../../../src/core/json/json.ts'
import { chatDialect } from '../../../../src/dialects/chat/chat-dialect.ts'
import { createFailure } from '../../../../src/core/errors/gateway-error.ts'
import { createAnswerContext, TURN } from '../kit.ts'

const GATEWAY_ID = `chatcmpl-${TURN}`
const HEAD = '{"id":"up-1","object":"chat.completion.chunk",'

function patchMessages(...all: readonly string[]): readonly string[] {
  const { patchMessage } = chatDialect.createPassThroughPatcher(createAnswerContext())
  return all.map((data) => patchMessage({ data }).data)
}

test('the patcher of passed-through chat answers changes only the id of a chunk, and no other character', () => {
  const odd = `${HEAD}  "created":1.50e3,"choices":[{"index":0,"delta":{"content":"\\u00e9 \\"id\\":\\"up-1\\""}}]}`
  const spaced = '{"choices": [], "id": "up-1", "x": "up-1"}'
  expect(patchMessages(odd, spaced, '[DONE]')).toEqual([
    odd.replace('"id":"up-1"', `"id":"${GATEWAY_ID}"`),
    spaced.replace('"id": "up-1"', `"id": "${GATEWAY_ID}"`),
    '[DONE]',
  ])
})

test('the patcher of passed-through chat answers returns errors and invalid JSON as the same message', () => {
  const { patchMessage } = chatDialect.createPassThroughPatcher(createAnswerContext())
  const error = { event: 'error', data: '{"error":{"message":"no"}}' }
  const broken = { data: '{"id":' }
  expect(patchMessage(error)).toBe(error)
  expect(patchMessage(broken)).toBe(broken)
})

test('the patcher of passed-through chat answers replaces the empty id of a chunk, but not the empty id of a tool call', () => {
  expect(
    patchMessages(
      '{"choices":[],"id":"","model":""}',
      '{"choices":[{"delta":{"tool_calls":[{"id":""}]}}],"id":""}',
      '{"choices":[{"delta":{"tool_calls":[{"id":""}]}}],"id":"up-1"}',
    ),
  ).toEqual([
    `{"choices":[],"id":"${GATEWAY_ID}","model":""}`,
    '{"choices":[{"delta":{"tool_calls":[{"id":""}]}}],"id":""}',
    `{"choices":[{"delta":{"tool_calls":[{"id":""}]}}],"id":"${GATEWAY_ID}"}`,
  ])
})

test("the patcher of passed-through chat answers replaces the upstream's id even after unusual spaces, or if it changes between chunks", () => {
  const all = patchMessages('{"id" : "up-1","choices":[]}', `${HEAD}"choices":[]}`, '{"id":"up-2"}')
  for (const data of all) expect(JSON.parse(data)).toMatchObject({ id: GATEWAY_ID })
})

test('the patcher of passed-through chat answers removes fields with which an upstream could attack Open WebUI (C127)', () => {
  const hostile = { event: { type: 'execute' }, selected_model_id: 'x', sources: [1] }
  const clean = { id: 'up-1', choices: [{ index: 0, delta: { content: '"event" and sources' } }] }
  const hidden = `{"id":"up-1","\\u0065vent":{"type":"execute"},"choices":[]}`
  const call = { type: 'response.output_item.added', item: { type: 'function_call' } }
  const all = patchMessages(
    JSON.stringify({ ...clean, ...hostile }),
    hidden,
    JSON.stringify(call),
    JSON.stringify(clean),
  )
  expect(all.map((data) => JSON.parse(data) as JsonObject)).toEqual([
    { ...clean, id: GATEWAY_ID },
    { id: GATEWAY_ID, choices: [] },
    { item: { type: 'function_call' } },
    { ...clean, id: GATEWAY_ID },
  ])
})

describe('the ending of a passed-through chat stream', () => {
  const isEnding = (...all: readonly string[]) => {
    const patcher = chatDialect.createPassThroughPatcher(createAnswerContext())
    return all.map((data) => {
      const message = { data }
      patcher.patchMessage(message)
      return patcher.startsEnding(message)
    })
  }
  const chunk = (choice: object) => JSON.stringify({ id: 'up-1', choices: [choice] })

  test('the ending of a passed-through chat stream starts with the finish reason of the first choice, and includes all later messages', () => {
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

  test('the ending of a passed-through chat stream without a finish reason starts with [DONE] or an error', () => {
    expect(isEnding('[DONE]')).toEqual([true])
    expect(isEnding('{"error":{"message":"no"}}')).toEqual([true])
    expect(isEnding('{"error":null,"choices":[]}', 'no JSON "error"')).toEqual([false, false])
  })
})

test("a passed-through non-streamed chat answer gets the gateway's id, and an error stays unchanged", () => {
  const { patchBody } = chatDialect.createPassThroughPatcher(createAnswerContext())
  const body = { id: 'up-1', choices: [{ index: 0 }], event: {}, usage: { x: 1 } }
  expect(patchBody(body)).toEqual({ id: GATEWAY_ID, choices: [{ index: 0 }], usage: { x: 1 } })
  const error = { error: { message: 'no' } }
  expect(patchBody(error)).toBe(error)
})

test('a passed-through chat stream that broke off ends with an error without choices, and [DONE]', () => {
  const { renderFailure } = chatDialect.createPassThroughPatcher(createAnswerContext())
  expect(renderFailure(createFailure('upstream_broken', 'No.'))).toEqual([
    {
      data: '{"error":{"message":"No.","type":"server_error","param":null,"code":"upstream_broken"}}',
    },
    { data: '[DONE]' },
  ])
})
