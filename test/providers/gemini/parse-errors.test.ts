import { describe, expect, test } from 'vitest'
import { gemini } from '../../../src/providers/gemini/gemini.ts'

function error(code: number, status: string, message: string, details: object[] = []) {
  return { error: { code, message, status, details } } as never
}

describe("Google's errors, converted to OpenAI's format", () => {
  test('a Google error keeps its status and its message', () => {
    expect(
      gemini.parseErrorResponse(404, error(404, 'NOT_FOUND', 'models/x is not found')),
    ).toEqual({
      status: 404,
      type: 'invalid_request_error',
      code: 'model_not_found',
      message: 'models/x is not found',
      param: null,
    })
    expect(gemini.parseErrorResponse(403, error(403, 'PERMISSION_DENIED', 'No.'))).toMatchObject({
      status: 403,
      code: 'permission_denied',
    })
    expect(gemini.parseErrorResponse(503, error(503, 'UNAVAILABLE', 'Overloaded.'))).toMatchObject({
      status: 503,
      type: 'server_error',
    })
  })

  test('a Google error about an invalid API key gets the status 401', () => {
    const message = 'API key not valid. Please pass a valid API key.'
    const reason = [
      { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'API_KEY_INVALID' },
    ]
    for (const body of [
      error(400, 'INVALID_ARGUMENT', message),
      error(400, 'INVALID_ARGUMENT', 'No.', reason),
    ]) {
      expect(gemini.parseErrorResponse(400, body)).toMatchObject({
        status: 401,
        code: 'invalid_api_key',
      })
    }
  })

  test("a Google error's retry delay is appended to the message as OpenAI's clients parse it", () => {
    const details = [
      {
        '@type': 'type.googleapis.com/google.rpc.QuotaFailure',
        violations: [{ quotaId: 'RequestsPerMinute' }],
      },
      { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '34.4s' },
    ]
    expect(
      gemini.parseErrorResponse(429, error(429, 'RESOURCE_EXHAUSTED', 'Quota exceeded.', details)),
    ).toEqual({
      status: 429,
      type: 'requests',
      code: 'rate_limit_exceeded',
      message: 'Quota exceeded. Please try again in 34.4s.',
      param: null,
    })
  })

  test("a Google error about a too long conversation gets OpenAI's code context_length_exceeded", () => {
    const message =
      'The input token count (2000000) exceeds the maximum number of tokens allowed (1048576).'
    expect(gemini.parseErrorResponse(400, error(400, 'INVALID_ARGUMENT', message)).code).toBe(
      'context_length_exceeded',
    )
  })

  test('a Google error in a list or as JSON text is parsed', () => {
    const body = JSON.stringify([error(429, 'RESOURCE_EXHAUSTED', 'Slow down.')])
    expect(gemini.parseErrorResponse(429, body)).toMatchObject({
      status: 429,
      message: 'Slow down.',
    })
  })

  test('a Google error in another format still gives a failure with a message', () => {
    expect(gemini.parseErrorResponse(502, '<html><body>Bad gateway</body></html>')).toMatchObject({
      status: 502,
      type: 'server_error',
      message: 'The upstream answered with status 502 and a web page.',
    })
    expect(gemini.parseErrorResponse(500, 'upstream connect error')).toMatchObject({
      message: 'The upstream answered with status 500: upstream connect error',
    })
    expect(gemini.parseErrorResponse(400, { error: 'no' })).toMatchObject({
      status: 400,
      message: 'no',
    })
    expect(gemini.parseErrorResponse(418, {})).toMatchObject({ status: 418, code: null })
    expect(gemini.parseErrorResponse(400, '[{"broken')).toMatchObject({ status: 400 })
  })
})
