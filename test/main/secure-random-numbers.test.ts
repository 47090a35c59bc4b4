import { expect, test } from 'vitest'
import { createSecureRandom } from '../../src/main/secure-random-numbers.ts'

test('secure random numbers are at least 0 and below 1, evenly distributed, and different for each generator', () => {
  const [one, other] = [createSecureRandom(), createSecureRandom()]
  const numbers = Array.from({ length: 32_000 }, one)
  expect(numbers.every((number) => number >= 0 && number < 1)).toBe(true)
  const counts = Array.from({ length: 32 }, () => 0)
  for (const number of numbers) {
    const bucket = Math.floor(number * 32)
    counts[bucket] = (counts[bucket] ?? 0) + 1
  }
  // Expected are 1000 in each bucket; a difference of 250 has a chance below 1 : 10⁹.
  for (const count of counts) expect(Math.abs(count - 1000)).toBeLessThan(250)
  expect(numbers.slice(0, 64)).not.toEqual(Array.from({ length: 64 }, other))
  // The bytes of one system call are not used twice.
  expect(numbers.slice(0, 1024)).not.toEqual(numbers.slice(1024, 2048))
})
