/**
 * Detects jumps of the clock of the database. After a jump, leases of living replicas look expired until they
 * are renewed, so no lease counts as over for two thirds of its length. A process that was suspended, or that the
 * database did not answer for the length of a lease, looks the same and is treated alike.
 */

/** The range in which the time of the database is if its clock has not jumped. */
export interface ExpectedTime {
  readonly earliestMs: number
  readonly latestMs: number
}

export interface DatabaseClock {
  /** Reports the time that the database had between `sentAtMs`, a time of `performance.now`, and now. */
  readonly report: (sentAtMs: number, databaseMs: number) => void
  readonly getExpectedTime: () => ExpectedTime
}

/** Trusts the database. Used on Workers, where no process lives long enough to compare clocks. */
export const TRUSTED_CLOCK: DatabaseClock = {
  report: () => undefined,
  getExpectedTime: () => ({ earliestMs: 0, latestMs: Number.MAX_SAFE_INTEGER }),
}

/** A range that contains no time, so that no lease counts as over. */
const NO_TIME: ExpectedTime = { earliestMs: 1, latestMs: 0 }

interface Reading {
  readonly sentAtMs: number
  readonly receivedAtMs: number
  readonly databaseMs: number
}

/** Creates the clock of a process that renews its lease of `leaseMs`, and reports the time of each renewal. */
export function createDatabaseClock(leaseMs: number): DatabaseClock {
  // Every living replica renews its lease at least once in this time.
  const settleMs = (leaseMs * 2) / 3
  let latest: Reading | null = null
  let steadySinceMs = 0

  /** Returns the expected time of the database between two times of `performance.now`. */
  const predict = (reading: Reading, fromMs: number, untilMs: number): ExpectedTime => ({
    earliestMs: Math.floor(reading.databaseMs + fromMs - reading.receivedAtMs - leaseMs / 10),
    latestMs: Math.ceil(reading.databaseMs + untilMs - reading.sentAtMs + leaseMs / 10),
  })
  const isSteady = (before: Reading, { sentAtMs, receivedAtMs, databaseMs }: Reading): boolean => {
    const { earliestMs, latestMs } = predict(before, sentAtMs, receivedAtMs)
    const isInTime = sentAtMs - before.sentAtMs < leaseMs
    return isInTime && databaseMs >= earliestMs && databaseMs <= latestMs
  }
  return {
    report(sentAtMs, databaseMs) {
      const receivedAtMs = performance.now()
      const reading = { sentAtMs, receivedAtMs, databaseMs }
      if (latest === null || !isSteady(latest, reading)) steadySinceMs = receivedAtMs
      latest = reading
    },
    getExpectedTime() {
      const nowMs = performance.now()
      const isKnown = latest !== null && nowMs - latest.receivedAtMs < leaseMs
      if (latest === null || !isKnown || nowMs - steadySinceMs < settleMs) return NO_TIME
      return predict(latest, nowMs, nowMs)
    },
  }
}
