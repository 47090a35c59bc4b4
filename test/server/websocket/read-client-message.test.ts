import { describe, expect, test } from 'vitest'
import { GatewayError } from '../../../src/core/errors/gateway-error.ts'
import {
  convertToRequestBody,
  readStreamId,
  readClientMessage,
} from '../../../src/server/websocket/read-client-message.ts'
import { UNLIMITED_MEMORY } from '../../support/unlimited-memory.ts'

const limits = {
  memory: UNLIMITED_MEMORY.trackRequest('t'),
  settings: { MAX_BODY_ITEMS: 10, MAX_BODY_VALUES: 100 },
}

function read(text: string | null) {
  return readClientMessage(text === null ? null : new TextEncoder().encode(text), limits)
}

function getRejection(run: () => unknown): string {
  try {
    run()
  } catch (error) {
    if (error instanceof GatewayError) return `${error.failure.code} ${error.failure.param}`
  }
  return 'not refused'
}

test('a WebSocket message is converted to a request body without its type and stream id', async () => {
  const frame = await read('{"type":"response.create","model":"m","stream_id":"a","input":"hi"}')
  expect(readStreamId(frame)).toBe('a')
  expect(convertToRequestBody(frame)).toEqual({ model: 'm', input: 'hi', stream: true })
})

test('only JSON objects are accepted as WebSocket messages', async () => {
  for (const text of [null, '', 'hi', '[]', '4', 'null', '{', '\u0000']) {
    await expect(read(text)).rejects.toMatchObject({ failure: { code: 'invalid_json' } })
  }
  expect(getRejection(() => readStreamId({ stream_id: 4 }))).toBe('invalid_type stream_id')
})

describe('rejection of invalid WebSocket messages', () => {
  const create = { type: 'response.create' }
  test.each([
    ['missing_required_parameter type', {}],
    ['invalid_value type', { type: 'response.steer' }],
    ['invalid_value type', { type: 4 }],
    ['unsupported_parameter stream', { ...create, stream: false }],
    ['unsupported_parameter stream', { ...create, stream: 'true' }],
    ['unsupported_parameter background', { ...create, background: true }],
  ])('a WebSocket message is rejected with the error %s: %j', (refusal, frame) => {
    expect(getRejection(() => convertToRequestBody(frame))).toBe(refusal)
  })
})

test.each([
  [{}],
  [{ stream: null, stream_options: null, background: null }],
  // As OpenAI's Agents SDKs send it.
  [{ stream: true }],
  [{ stream: true, stream_options: { include_usage: true }, background: false }],
])('fields of a WebSocket message that change nothing are accepted: %j', (fields) => {
  expect(convertToRequestBody({ type: 'response.create', ...fields })).toEqual({ stream: true })
})
