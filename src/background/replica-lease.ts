/**
 * Renews the lease of a replica with one write for all of its runs, detects runs that were taken away,
 * and recovers runs of dead replicas. A lease that was not renewed in time has expired: after such a
 * gap the replica waits for one more renewal before it recovers runs of others, because these may be
 * late for the same reason.
 */
import { errorMessage } from '../core/errors/gateway-error.ts'
import { MAX_RUNS_PER_QUERY, type FoundRun } from '../store/background-runs/run-store-interface.ts'
import type { Ports } from '../gateway/dependencies-interface.ts'

export interface LeaseOptions {
  readonly id: string
  readonly leaseMs: number
  /** Turns that this replica runs and that others may take over. */
  readonly running: () => readonly string[]
  readonly lost: (turnId: string) => void
  /** Recovers an orphaned run; null if this replica does not recover runs. */
  readonly rescue: ((run: FoundRun) => Promise<void>) | null
}

export interface ReplicaLease {
  /** Ends the lease, so that other replicas can take over its runs at once. */
  readonly giveBack: () => Promise<void>
}

/** Interval of the check for runs that were taken away. */
const CHECK_INTERVAL_MS = 1_000

/** Resolves when the lease is stored. */
export async function holdReplicaLease(
  options: LeaseOptions,
  ports: Ports<'log' | 'nowMs' | 'replica' | 'runs'>,
): Promise<ReplicaLease> {
  const { runs, nowMs, log } = ports
  const { id, leaseMs } = options
  const intervalMs = Math.min(CHECK_INTERVAL_MS, leaseMs / 3)
  let renewedAtMs = nowMs()
  let wasRenewedInTime = false
  let isOver = false
  let timer: ReturnType<typeof setTimeout>
  let checking: Promise<void> = Promise.resolve()
  let recovering: Promise<void> | null = null

  const renew = async (): Promise<void> => {
    const now = nowMs()
    await runs.renewReplica(id, now, now + leaseMs)
    wasRenewedInTime = now < renewedAtMs + leaseMs
    renewedAtMs = now
  }
  const checkAndRenew = async (): Promise<void> => {
    try {
      await reportLostRuns(options, ports)
      if (nowMs() >= renewedAtMs + leaseMs / 3) {
        await renew()
        // Not awaited: the lease is renewed while runs are recovered.
        if (wasRenewedInTime)
          recovering ??= recoverOrphans(options, ports).finally(() => (recovering = null))
      }
    } catch (error) {
      log('warn', 'lease-not-kept', { why: errorMessage(error) })
    }
    if (!isOver) scheduleCheck()
  }
  const startCheck = (): void => {
    checking = checkAndRenew()
  }
  const scheduleCheck = (): void => {
    // Random, so that replicas that were started together do not query at the same time.
    timer = setTimeout(startCheck, intervalMs * (0.8 + 0.2 * Math.random()))
  }
  await renew()
  scheduleCheck()
  return {
    async giveBack() {
      isOver = true
      clearTimeout(timer)
      await checking
      await recovering
      await runs.retireReplica(id)
    },
  }
}

async function reportLostRuns(
  { id, running, lost }: LeaseOptions,
  { runs }: Ports<'runs'>,
): Promise<void> {
  const turnIds = running()
  for (let from = 0; from < turnIds.length; from += MAX_RUNS_PER_QUERY) {
    const batch = turnIds.slice(from, from + MAX_RUNS_PER_QUERY)
    const held = await runs.ownedRuns(id, batch)
    for (const turnId of batch) if (!held.has(turnId)) lost(turnId)
  }
}

/** Recovers the replica's released turns and some runs of dead replicas. */
async function recoverOrphans(
  { id, rescue }: LeaseOptions,
  { runs, replica, nowMs, log }: Ports<'log' | 'nowMs' | 'replica' | 'runs'>,
): Promise<void> {
  if (rescue === null) return
  try {
    for (const turn of replica.takeReleasedTurns()) await rescue({ ...turn, owner: id })
    for (const orphan of await runs.orphanedRuns(nowMs())) await rescue(orphan)
  } catch (error) {
    log('warn', 'orphans-not-rescued', { why: errorMessage(error) })
  }
}
