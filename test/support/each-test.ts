/**
 * Setup for all test files: checks after each test that gateways sent what they report, and resets state that
 * files in the same worker share.
 */
import { afterEach, beforeAll, expect, vi } from 'vitest'
import { RECEIVED_REQUESTS } from './received-requests.ts'
import { watches } from './open-watches.ts'

// A gateway's report must not match a request that an earlier test file received.
beforeAll(() => RECEIVED_REQUESTS.forgetAll())

afterEach(async () => {
  vi.useRealTimers()
  const faults = await Promise.all([...watches].map(({ findFaults }) => findFaults()))
  expect(faults.flat()).toEqual([])
})
