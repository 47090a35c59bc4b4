/** What is looked at, and put back, after each test of each file, also where files share a worker. */
import { afterEach, expect, vi } from 'vitest'
import { watches } from './watched.ts'

afterEach(async () => {
  vi.useRealTimers()
  const faults = await Promise.all([...watches].map(({ look }) => look()))
  expect(faults.flat()).toEqual([])
})
