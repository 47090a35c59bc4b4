import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  encodeJsonInSteps,
  isJsonLongerThan,
  measureJsonInSteps,
} from '../../../src/core/json/encode-json-in-steps.ts'
import type { JsonObject } from '../../../src/core/json/json.ts'
import { stringifyWellFormed } from '../../../src/core/json/well-formed-json.ts'

const decoder = new TextDecoder()

/** Texts that are longer than a step, whose first step ends at any place of a character. */
const longText = fc
  .tuple(
    fc.integer({ min: 1_999_990, max: 2_000_010 }),
    fc.constantFrom('🦊', '\ud83e', '\\', '"', 'é', '\n'),
  )
  .map(([length, end]) => 'a'.repeat(length) + end.repeat(20))

const value = fc.record({
  model: fc.string({ unit: 'binary' }),
  items: fc.array(
    fc.oneof(
      longText,
      fc.record({ text: longText, absent: fc.constant(undefined), n: fc.double() }),
      fc.constantFrom(null, [], {}, 3, ''),
    ),
    { maxLength: 4 },
  ),
})

describe('encodeJsonInSteps', () => {
  test('writes the same text as stringifyWellFormed for any value', async () => {
    await fc.assert(
      fc.asyncProperty(value, async (body) => {
        const bytes = await encodeJsonInSteps(body)
        expect(decoder.decode(bytes) === stringifyWellFormed(body)).toBe(true)
      }),
      { numRuns: 20 },
    )
  })

  test('lets other events be handled while it writes 20 MB', async () => {
    let passes = 0
    const timer = setInterval(() => (passes += 1), 0)
    await encodeJsonInSteps({ input: 'x'.repeat(20_000_000) })
    clearInterval(timer)
    expect(passes).toBeGreaterThan(3)
  })
})

test('measureJsonInSteps returns the number of bytes that JSON.stringify would write', async () => {
  await fc.assert(
    fc.asyncProperty(value, async (body) => {
      expect(await measureJsonInSteps(body as JsonObject)).toBe(
        Buffer.byteLength(JSON.stringify(body)),
      )
    }),
    { numRuns: 20 },
  )
})

test.each([
  [{ input: 'x'.repeat(100) }, true],
  [{ input: Array.from({ length: 100 }, () => 1) }, true],
  [{ ['x'.repeat(100)]: 1 }, true],
  [{ input: ['a', { b: 'c' }, null] }, false],
] as const)('isJsonLongerThan of value %# is %s for 50 characters', (body, expected) => {
  expect(isJsonLongerThan(body as JsonObject, 50)).toBe(expected)
})
