/** A failure fits into one line for any content from an upstream. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Failure } from '../../../src/core/stream-event.ts'
import { truncateFailureForStream } from '../../../src/core/text/truncate-failure-for-stream.ts'
import { GatewayError } from '../../../src/core/errors/gateway-error.ts'

const FAILURE: Failure = {
  status: 502,
  type: 'server_error',
  code: null,
  message: 'So',
  param: null,
}

test('truncateFailureForStream returns a short failure unchanged', () => {
  for (const message of ['', 'So', 'x'.repeat(4000)]) {
    const failure = { ...FAILURE, message }
    expect(truncateFailureForStream(failure)).toBe(failure)
  }
})

test('truncateFailureForStream shortens long fields without splitting a character', () => {
  const anything = fc
    .array(fc.constantFrom('x', '\0', '😀', 'é'.repeat(500), 'y'.repeat(3999)), { maxLength: 20 })
    .map((pieces) => pieces.join(''))
  fc.assert(
    fc.property(anything, anything, (message, code) => {
      const short = truncateFailureForStream({ ...FAILURE, message, code })
      expect(short.message.length).toBeLessThanOrEqual(4000)
      expect(short.message.isWellFormed()).toBe(true)
      expect(short.code?.length).toBeLessThanOrEqual(400)
      expect(message.startsWith(short.message.replace(/…$/, ''))).toBe(true)
      expect(truncateFailureForStream(short)).toBe(short)
    }),
  )
})

test('a long error of an upstream is shortened even if it arrives before the answer starts', () => {
  const { failure } = new GatewayError({ ...FAILURE, message: 'x'.repeat(100_000) })
  expect(failure.message).toHaveLength(4000)
})
