import { expect, test } from 'vitest'
import { createMediaIdentityMap } from '../../../src/core/media/media-identity-map.ts'

test('distinguishes keys with equal samples by their complete text', () => {
  const map = createMediaIdentityMap<number>()
  const long = (at: number) => `${'A'.repeat(at)}B${'A'.repeat(999 - at)}`
  map.set(long(10), 1)
  map.set(long(11), 2)
  map.set(long(10), 3)
  map.set('short', 4)
  expect([long(10), long(11), long(12), 'short', ''].map(map.get)).toEqual([
    3,
    2,
    undefined,
    4,
    undefined,
  ])
})
