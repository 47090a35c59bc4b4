import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createDatabaseClock } from '../../../src/store/leases/database-clock.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const LEASE_MS = 30_000

/** A database whose clock can be moved. `renew` takes 100 ms; `isTrusted` is false if no lease is over. */
function createClock() {
  const clock = createDatabaseClock(LEASE_MS)
  const moved = { byMs: 1_000_000 }
  const getDatabaseTime = () => performance.now() + moved.byMs
  return {
    moved,
    async renew() {
      const sentAtMs = performance.now()
      await vi.advanceTimersByTimeAsync(50)
      const databaseMs = getDatabaseTime()
      await vi.advanceTimersByTimeAsync(50)
      clock.report(sentAtMs, databaseMs)
    },
    isTrusted() {
      const { earliestMs, latestMs } = clock.getExpectedTime()
      return getDatabaseTime() >= earliestMs && getDatabaseTime() <= latestMs
    },
  }
}

type Clock = ReturnType<typeof createClock>

async function renewFor(ms: number, { renew }: Clock): Promise<void> {
  for (const end = performance.now() + ms; performance.now() < end;) {
    await vi.advanceTimersByTimeAsync(LEASE_MS / 3 - 100)
    await renew()
  }
}

describe('the clock of the database', () => {
  test('the clock is trusted once every living replica has renewed its lease, and as long as readings continue', async () => {
    const clock = createClock()
    expect(clock.isTrusted()).toBe(false)
    await clock.renew()
    expect(clock.isTrusted()).toBe(false)
    await renewFor((LEASE_MS * 2) / 3, clock)
    expect(clock.isTrusted()).toBe(true)
    await vi.advanceTimersByTimeAsync(LEASE_MS)
    expect(clock.isTrusted()).toBe(false)
    await clock.renew()
    expect(clock.isTrusted()).toBe(false)
    await renewFor((LEASE_MS * 2) / 3, clock)
    expect(clock.isTrusted()).toBe(true)
  })

  test.each([60 * 60 * 1000, -60 * 60 * 1000, LEASE_MS / 3, -LEASE_MS / 3])(
    'a clock that jumps by %i ms is not trusted until every living replica has renewed its lease',
    async (jumpMs) => {
      const clock = createClock()
      await clock.renew()
      await renewFor(LEASE_MS, clock)
      clock.moved.byMs += jumpMs
      expect(clock.isTrusted()).toBe(false)
      await clock.renew()
      expect(clock.isTrusted()).toBe(false)
      await renewFor((LEASE_MS * 2) / 3, clock)
      expect(clock.isTrusted()).toBe(true)
    },
  )

  test('a clock that runs a little slower or is corrected by a second stays trusted', async () => {
    const clock = createClock()
    await clock.renew()
    await renewFor(LEASE_MS, clock)
    for (const byMs of [1_000, -1_000, -3, -3, -3]) {
      clock.moved.byMs += byMs
      expect(clock.isTrusted()).toBe(true)
      await renewFor(1, clock)
      expect(clock.isTrusted()).toBe(true)
    }
  })
})
