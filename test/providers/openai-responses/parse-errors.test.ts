/** Error bodies of any form are parsed into status, type, code, message and param. */
import { expect, test } from 'vitest'
import { parseErrorResponse } from '../../../src/providers/openai-responses/parse-errors.ts'

const REFUSED = { type: 'invalid_request_error', code: null, param: null }

test.each([
  [
    400,
    { error: { message: 'No.', type: 'invalid_request_error', param: 'input', code: 'x' } },
    { message: 'No.', type: 'invalid_request_error', param: 'input', code: 'x' },
  ],
  [429, { error: { message: 'Slow.', code: 429 } }, { ...REFUSED, message: 'Slow.', code: '429' }],
  [
    429,
    { error: { message: 'Slow.', type: 'tokens' } },
    { message: 'Slow.', type: 'tokens', code: 'rate_limit_exceeded', param: null },
  ],
  [401, { error: 'bad key' }, { ...REFUSED, message: 'bad key' }],
  [404, { message: 'no such path' }, { ...REFUSED, message: 'no such path' }],
  [422, { detail: [{ loc: ['body'] }] }, { ...REFUSED, message: '[{"loc":["body"]}]' }],
  [400, 'plain words\n', { ...REFUSED, message: 'plain words' }],
  [
    502,
    '<html><body>Bad Gateway</body></html>',
    {
      type: 'server_error',
      code: 'upstream_broken',
      param: null,
      message: 'The upstream answered with status 502 and a web page.',
    },
  ],
  [
    500,
    {},
    {
      type: 'server_error',
      code: 'upstream_broken',
      param: null,
      message: 'The upstream answered with status 500 and no explanation.',
    },
  ],
])('an error of a Responses service with status %i is parsed: %j', (status, body, expected) => {
  expect(parseErrorResponse(status, body)).toEqual({ status, ...expected })
})
