import { expect, test } from 'vitest'
import { createMapKeyedByMedia } from '../../../src/core/media/map-keyed-by-media.ts'

test('a map by media identity distinguishes long keys that differ only between the sampled characters', () => {
  const map = createMapKeyedByMedia<number>()
  const long = (at: number) => `${'A'.repeat(at)}B${'A'.repeat(999 - at)}`
  map.set(long(100), 1)
  map.set(long(101), 2)
  map.set(long(100), 3)
  map.set('short', 4)
  expect([long(100), long(101), long(102), 'short', ''].map(map.get)).toEqual([
    3,
    2,
    undefined,
    4,
    undefined,
  ])
})
