/** Tests the conversion of the provider's errors to OpenAI's shape. */
import { expect, test } from 'vitest'
import type { JsonObject } from '../../../src/core/json/json.ts'
import { anthropic } from '../../../src/providers/anthropic/anthropic.ts'

const error = (type: string, message: string) => ({ type: 'error', error: { type, message } })

test.each<readonly [number, JsonObject | string, object]>([
  [
    400,
    error('invalid_request_error', 'max_tokens: Field required'),
    { type: 'invalid_request_error', code: 'invalid_request_error' },
  ],
  [
    400,
    error('invalid_request_error', 'prompt is too long: 210000 tokens > 200000 maximum'),
    { code: 'context_length_exceeded' },
  ],
  [401, error('authentication_error', 'invalid x-api-key'), { code: 'authentication_error' }],
  [404, error('not_found_error', 'model: claude-none'), { code: 'model_not_found' }],
  [404, error('not_found_error', 'Not found'), { code: 'not_found_error' }],
  [
    429,
    error('rate_limit_error', 'Slow down'),
    { type: 'rate_limit_error', code: 'rate_limit_exceeded' },
  ],
  [
    529,
    error('overloaded_error', 'Overloaded'),
    { type: 'server_error', code: 'overloaded_error' },
  ],
  [500, { error: 'broken' }, { message: 'broken', code: null }],
  [
    502,
    '<html><body>Bad gateway</body></html>',
    { message: 'The upstream answered with status 502 and a web page.' },
  ],
  [503, 'no healthy upstream', { message: 'no healthy upstream' }],
  [500, {}, { message: 'The upstream answered with status 500 and no explanation.' }],
])(
  "an Anthropic error with status %i is converted to OpenAI's format: %j",
  (status, body, expected) => {
    const failure = anthropic.parseErrorResponse(status, body)
    expect(failure).toMatchObject({ status, param: null, ...expected })
  },
)

test("an Anthropic error keeps its message in OpenAI's format", () => {
  const { message } = anthropic.parseErrorResponse(
    400,
    error('invalid_request_error', 'roles must alternate'),
  )
  expect(message).toBe('roles must alternate')
})
