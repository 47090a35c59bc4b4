/** Tests that equal error responses become equal failures on every wire. */
import { describe, expect, test } from 'vitest'
import { PROVIDERS } from '../../../src/providers/provider-registry.ts'
import { accountWith } from '../../support/responses-kit.ts'

const { chat, responses, anthropic, gemini } = PROVIDERS

describe.each([chat, responses, anthropic, gemini])(
  'error responses without an explanation, from $wire upstreams',
  ({ parseErrorResponse }) => {
    const PAGE = '<!doctype html>\n<html><head><title> Sign in </title></head></html>'
    test.each([
      [500, '', 'no explanation', 'server_error', 'upstream_broken'],
      [500, {}, 'no explanation', 'server_error', 'upstream_broken'],
      [503, ' \n', 'no explanation', 'server_error', 'upstream_broken'],
      [504, '', 'no explanation', 'server_error', 'upstream_timeout'],
      [502, PAGE, 'a web page: Sign in', 'server_error', 'upstream_broken'],
      [502, ' <p>x', 'a web page', 'server_error', 'upstream_broken'],
      [404, PAGE, 'a web page: Sign in', 'invalid_request_error', null],
      [401, '', 'no explanation', 'authentication_error', 'invalid_api_key'],
      [429, '', 'no explanation', 'rate_limit_error', 'rate_limit_exceeded'],
    ])(
      'an error response with status %i and body %j is explained to the client with "%s"',
      (status, body, what, type, code) => {
        const message = `The upstream answered with status ${status} and ${what}.`
        expect(parseErrorResponse(status, body)).toEqual({
          status,
          type,
          code,
          message,
          param: null,
        })
      },
    )
  },
)

describe.each([chat, responses])(
  'errors within answers of status 200, from $wire upstreams',
  (provider) => {
    const decodeError = (error: object, status?: string) =>
      provider
        .decodeBody(
          { ...(status === undefined ? {} : { status }), error: { ...error } },
          accountWith({}),
        )
        .at(-1)

    test.each([
      [{ message: 'Fire.' }, 502, null],
      [{ message: 'Fire.', type: 'server_error' }, 502, null],
      [{ message: 'Fire.', code: 'server_error' }, 502, 'server_error'],
      [{ message: 'Fire.', code: 503 }, 503, '503'],
      [{ message: 'Fire.', code: 1000 }, 502, '1000'],
      [{ message: 'Slow.', code: 'rate_limit_exceeded' }, 429, 'rate_limit_exceeded'],
      [{ message: 'Long.', code: 'context_length_exceeded' }, 400, 'context_length_exceeded'],
      [{ message: 'No.', type: 'invalid_request_error' }, 400, null],
    ])('the error %j within an answer of status 200 gets the status %i', (error, status, code) => {
      for (const answerStatus of [undefined, 'failed']) {
        expect(decodeError(error, answerStatus)).toMatchObject({
          type: 'answer-failed',
          failure: { status, message: error.message },
        })
      }
      // One of the wires omits a code that only repeats the status.
      if (code !== String(status)) expect(decodeError(error)).toMatchObject({ failure: { code } })
    })

    test.each([{}, { length: 3 }])(
      'the error %j within an answer, which explains nothing, gets the status 502',
      (error) => {
        expect(decodeError(error, 'failed')).toMatchObject({
          type: 'answer-failed',
          failure: {
            status: 502,
            type: 'server_error',
            code: null,
            message: 'The upstream reported an error and no explanation.',
          },
        })
      },
    )
  },
)

test('an error code of a Gemini answer that is no HTTP status gives the status 502', () => {
  const error = { code: 1000, message: 'Fire.' }
  expect(gemini.decodeBody({ error }, accountWith({})).at(-1)).toMatchObject({
    failure: { status: 502, message: 'Fire.' },
  })
})
