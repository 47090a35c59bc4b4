/** What is looked at, and put back, after each test of each file, also where files share a worker. */
import { afterEach, beforeAll, expect, vi } from 'vitest'
import { ARRIVED } from './arrived.ts'
import { watches } from './watched.ts'

// No answer of this file can claim what arrived in the file before it.
beforeAll(() => ARRIVED.forgetAll())

afterEach(async () => {
  vi.useRealTimers()
  const faults = await Promise.all([...watches].map(({ look }) => look()))
  expect(faults.flat()).toEqual([])
})
