/** A failure fits into a line, whatever an upstream has put into it. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Failure } from '../../../src/core/stream-event.ts'
import { truncateFailure } from '../../../src/core/text/truncate-failure.ts'
import { GatewayError } from '../../../src/core/errors/gateway-error.ts'

const FAILURE: Failure = {
  status: 502,
  type: 'server_error',
  code: null,
  message: 'So',
  param: null,
}

test('what is short is the very same', () => {
  for (const message of ['', 'So', 'x'.repeat(4000)]) {
    const failure = { ...FAILURE, message }
    expect(truncateFailure(failure)).toBe(failure)
  }
})

test('what is long is cut, between two characters', () => {
  const anything = fc
    .array(fc.constantFrom('x', '\0', '😀', 'é'.repeat(500), 'y'.repeat(3999)), { maxLength: 20 })
    .map((pieces) => pieces.join(''))
  fc.assert(
    fc.property(anything, anything, (message, code) => {
      const short = truncateFailure({ ...FAILURE, message, code })
      expect(short.message.length).toBeLessThanOrEqual(4000)
      expect(short.message.isWellFormed()).toBe(true)
      expect(short.code?.length).toBeLessThanOrEqual(400)
      expect(message.startsWith(short.message.replace(/…$/, ''))).toBe(true)
      expect(truncateFailure(short)).toBe(short)
    }),
  )
})

test('also where it is refused before anything is said', () => {
  const { failure } = new GatewayError({ ...FAILURE, message: 'x'.repeat(100_000) })
  expect(failure.message).toHaveLength(4000)
})
