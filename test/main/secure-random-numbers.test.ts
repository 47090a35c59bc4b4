import { expect, test } from 'vitest'
import { createSecureRandom } from '../../src/main/secure-random-numbers.ts'

test('numbers are from 0 up to 1, spread evenly, and never those of somebody else', () => {
  const [one, other] = [createSecureRandom(), createSecureRandom()]
  const numbers = Array.from({ length: 32_000 }, one)
  expect(numbers.every((number) => number >= 0 && number < 1)).toBe(true)
  const counts = Array.from({ length: 32 }, () => 0)
  for (const number of numbers) {
    const place = Math.floor(number * 32)
    counts[place] = (counts[place] ?? 0) + 1
  }
  // A thousand each, and by chance not one in a billion is off by as much.
  for (const count of counts) expect(Math.abs(count - 1000)).toBeLessThan(250)
  expect(numbers.slice(0, 64)).not.toEqual(Array.from({ length: 64 }, other))
  // What was asked of the system at once does not come again.
  expect(numbers.slice(0, 1024)).not.toEqual(numbers.slice(1024, 2048))
})
