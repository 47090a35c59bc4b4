import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { holdReplicaLease } from '../../src/background/replica-lease.ts'
import type { GatewayDependencies } from '../../src/gateway/dependencies-interface.ts'
import { createReplicaAndUnclosedTurns } from '../../src/gateway/replica-and-unclosed-turns.ts'
import {
  MAX_ORPHANS_PER_QUERY,
  type RunWithReplica,
} from '../../src/store/background-runs/run-store-interface.ts'
import { aMoment } from './background-test-support.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const LEASE_MS = 30_000

/** A store with orphaned runs, which counts renewals of the lease. */
function createWorld(orphanCount: number) {
  const orphans = new Map<string, RunWithReplica>()
  for (let at = 0; at < orphanCount; at += 1) {
    const turnId = String(at).padStart(6, '0')
    orphans.set(turnId, { turnId, tenant: 't', user: null, replicaId: 'DEAD' })
  }
  const seen = { renewals: 0 }
  const clock = { aheadMs: 0 }
  const runs = {
    async renewReplica() {
      seen.renewals += 1
    },
    async retireReplica() {},
    findOrphanedRuns: async (after: string) =>
      [...orphans.values()].filter(({ turnId }) => turnId > after).slice(0, MAX_ORPHANS_PER_QUERY),
  }
  const ports = {
    runs,
    replica: createReplicaAndUnclosedTurns('R1'),
    nowMs: () => Date.now() + clock.aheadMs,
    log: () => undefined,
  } as unknown as GatewayDependencies
  return {
    orphans,
    seen,
    clock,
    hold: (recover: (run: RunWithReplica) => Promise<void>) =>
      holdReplicaLease(
        {
          replicaId: 'R1',
          leaseMs: LEASE_MS,
          listRunningTurns: () => [],
          onLost: () => undefined,
          recover,
        },
        ports,
      ),
  }
}

describe('the lease of a replica', () => {
  test('a lease is renewed in time although the clock of the process goes back by an hour', async () => {
    const { seen, clock, hold } = createWorld(0)
    const lease = await hold(async () => undefined)
    clock.aheadMs = -60 * 60 * 1000
    await vi.advanceTimersByTimeAsync(LEASE_MS)
    expect(seen.renewals).toBeGreaterThan(2)
    await lease.end()
  })

  test('3,000 runs of a dead replica are recovered within a lease, a few at a time, although some cannot be', async () => {
    const { orphans, seen, hold } = createWorld(3_000)
    let current = 0
    let most = 0
    const lease = await hold(async ({ turnId }) => {
      current += 1
      most = Math.max(most, current)
      await aMoment(Number(turnId) === 7 ? LEASE_MS : 20)
      current -= 1
      if (Number(turnId) % 1_000 >= 10) orphans.delete(turnId)
    })
    await vi.advanceTimersByTimeAsync(LEASE_MS)
    expect(orphans.size).toBe(30)
    expect(most).toBeLessThanOrEqual(8)
    expect(seen.renewals).toBeGreaterThan(2)
    const ending = lease.end()
    await vi.advanceTimersByTimeAsync(LEASE_MS)
    await ending
  })

  test('a lease that ends waits only for the runs that are being recovered', async () => {
    const { orphans, hold } = createWorld(100)
    const lease = await hold(async ({ turnId }) => {
      await aMoment(1_000)
      orphans.delete(turnId)
    })
    await vi.advanceTimersByTimeAsync(1_500)
    const ending = lease.end()
    await vi.advanceTimersByTimeAsync(1_000)
    await ending
    expect(orphans.size).toBeGreaterThan(80)
  })
})
