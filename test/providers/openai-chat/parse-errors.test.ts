/** Error bodies of many services are parsed into status, type, code, message and param. */
import { expect, test } from 'vitest'
import { openaiChat } from '../../../src/providers/openai-chat/openai-chat.ts'

const { parseErrorResponse } = openaiChat

test("an error of OpenAI's Chat Completions API stays unchanged", () => {
  const error = {
    message: 'No.',
    type: 'invalid_request_error',
    param: 'stop',
    code: 'unsupported',
  }
  expect(parseErrorResponse(400, { error })).toEqual({ status: 400, ...error })
})

test("missing fields of a chat service's error are filled in", () => {
  expect(parseErrorResponse(404, { error: { message: 'gone' } })).toEqual({
    status: 404,
    type: 'invalid_request_error',
    code: null,
    message: 'gone',
    param: null,
  })
})

test.each([
  [401, 'authentication_error', 'invalid_api_key'],
  [402, 'invalid_request_error', 'insufficient_quota'],
  [429, 'rate_limit_error', 'rate_limit_exceeded'],
  [500, 'server_error', 'upstream_broken'],
])(
  "a chat service's error without a type and a code gets them from its status %i",
  (status, type, code) => {
    expect(parseErrorResponse(status, {})).toMatchObject({ status, type, code })
  },
)

test("a numeric code of a chat service's error becomes text, or is dropped if it repeats the status", () => {
  expect(parseErrorResponse(400, { error: { message: 'x', code: 400 } }).code).toBeNull()
  expect(parseErrorResponse(400, { error: { message: 'x', code: 1214 } }).code).toBe('1214')
})

test("the provider's message is added to OpenRouter's error", () => {
  const error = (raw: string) => ({
    code: 429,
    message: 'Provider returned error',
    metadata: { provider_name: 'Google', raw },
  })
  expect(parseErrorResponse(429, { error: error('busy') })).toMatchObject({
    code: 'rate_limit_exceeded',
    message: 'Provider returned error (Google: busy)',
  })
  const nested = JSON.stringify({ error: { message: 'too long' } })
  expect(parseErrorResponse(400, { error: error(nested) }).message).toBe(
    'Provider returned error (Google: too long)',
  )
  expect(parseErrorResponse(400, { error: error('{"error":') }).message).toContain('{"error":')
})

test("the text that the model wrote is added to Groq's error about a failed tool call", () => {
  const error = { code: 'tool_use_failed', message: 'No call.', failed_generation: '{"a"' }
  expect(parseErrorResponse(400, { error })).toMatchObject({
    code: 'tool_use_failed',
    message: 'No call. The model wrote: {"a"',
  })
})

test('a FastAPI error is parsed to a message that names the field', () => {
  const detail = [{ loc: ['body', 'messages', 0], msg: 'field required' }]
  expect(parseErrorResponse(422, { detail }).message).toBe('body.messages.0: field required')
  expect(parseErrorResponse(404, { detail: 'Not Found' }).message).toBe('Not Found')
})

test("the message of a chat service's error is the title of an HTML page, or truncated plain text", () => {
  const page = '<html><head><title>502 Bad Gateway</title></head><body>…</body></html>'
  expect(parseErrorResponse(502, page).message).toBe(
    'The upstream answered with status 502 and a web page: 502 Bad Gateway.',
  )
  expect(parseErrorResponse(502, '<p>x').message).toBe(
    'The upstream answered with status 502 and a web page.',
  )
  expect(parseErrorResponse(500, 'x'.repeat(5000)).message).toHaveLength(401)
  expect(parseErrorResponse(500, '').message).toBe(
    'The upstream answered with status 500 and no explanation.',
  )
  expect(parseErrorResponse(503, { error: 'busy' }).message).toBe('busy')
})
