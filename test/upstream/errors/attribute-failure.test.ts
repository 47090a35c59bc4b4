import { describe, expect, test } from 'vitest'
import {
  attributeErrorMessage,
  attributeFailure,
} from '../../../src/upstream/errors/attribute-failure.ts'
import { plainAccount } from '../../support/account.ts'

const account = { ...plainAccount('chat'), name: 'ours', apiKey: 'sk-0123456789abcdef' }
const failure = {
  status: 400,
  type: 'invalid_request_error',
  code: 'context_length_exceeded',
  message: 'Too long.',
  param: 'messages',
}

describe('the failure of an upstream', () => {
  test('only the message of a failure changes, because SDKs compare the other fields', () => {
    expect(attributeFailure(failure, account)).toEqual({
      ...failure,
      message: 'upstream ours: Too long.',
    })
  })

  test("a sentence of the gateway about the upstream's answer stays as it is", () => {
    const own = { ...failure, message: 'The upstream answered with status 400 and no explanation.' }
    expect(attributeFailure(own, account)).toEqual(own)
  })

  test('no field of a failure has the key of the upstream', () => {
    const text = `of ${account.apiKey}`
    const leaking = { ...failure, message: text, code: text, type: text, param: text }
    expect(JSON.stringify(attributeFailure(leaking, account))).not.toContain('0123456789')
  })
})

const attribute = (data: object, event?: string): unknown => {
  const message = { ...(event === undefined ? {} : { event }), data: JSON.stringify(data) }
  const attributed = attributeErrorMessage(message, account)
  return attributed === message ? 'same' : JSON.parse(attributed.data)
}

describe('an error in a stream that is passed through', () => {
  test.each([
    [{ error: 'No.' }, { error: 'upstream ours: No.' }],
    [
      { id: 'c', error: { message: 'No.', code: 500, metadata: { raw: 'sk-0123456789abcdef!' } } },
      {
        id: 'c',
        error: { message: 'upstream ours: No.', code: 500, metadata: { raw: '[key removed]!' } },
      },
    ],
    [
      { object: 'error', message: 'No.', type: 'BadRequest' },
      { object: 'error', message: 'upstream ours: No.', type: 'BadRequest' },
    ],
    [
      { type: 'error', message: 'No.', code: 'invalid_api_key', param: null },
      {
        type: 'error',
        message: expect.stringMatching(/^upstream ours: No\. \(401: /) as unknown,
        code: 'upstream_access_denied',
        param: null,
      },
    ],
    [
      { type: 'response.failed', response: { id: 'r', error: { message: 'No.' } } },
      {
        type: 'response.failed',
        response: { id: 'r', error: { message: 'upstream ours: No.' } },
      },
    ],
  ])('%j becomes %j', (data, attributed) => {
    expect(attribute(data)).toEqual(attributed)
  })

  test('an event with the name error and no other sign of an error is attributed', () => {
    expect(attribute({ message: 'No.' }, 'error')).toEqual({ message: 'upstream ours: No.' })
  })

  test.each([
    { type: 'response.created', response: { id: 'r', error: null } },
    { choices: [{ delta: { content: 'An "error": {…} of sk-0123456789abcdef' } }] },
    { choices: [{ delta: { content: 'x' }, finish_reason: 'stop' }] },
    {
      item: {
        type: 'mcp_call',
        output: null,
        error: { type: 'http_error', code: 401, message: 'No.' },
      },
    },
  ])('the message %j stays as it is', (data) => {
    expect(attribute(data)).toBe('same')
  })
})
