/**
 * Renews the lease of a replica, with one write for all of its runs. Also detects runs that other replicas
 * have claimed, and recovers runs of dead replicas. If this replica renewed its own lease too late, it
 * recovers no runs until the next renewal. The leases of other replicas may have expired for the same
 * reason, e.g. a slow database, although these replicas are alive.
 */
import { errorMessage } from '../core/errors/gateway-error.ts'
import {
  MAX_RUNS_PER_QUERY,
  type RunWithReplica,
} from '../store/background-runs/run-store-interface.ts'
import type { Ports } from '../gateway/dependencies-interface.ts'

export interface LeaseOptions {
  readonly replicaId: string
  readonly leaseMs: number
  /** Returns the turns of the unfinished runs that this replica owns. */
  readonly listRunningTurns: () => readonly string[]
  /** Called for a run that another replica has claimed. */
  readonly onLost: (turnId: string) => void
  /** Recovers an orphaned run; null if this replica does not recover runs. */
  readonly recover: ((run: RunWithReplica) => Promise<void>) | null
}

export interface ReplicaLease {
  /** Ends the lease, so that other replicas can recover its runs immediately. Never rejects. */
  readonly end: () => Promise<void>
}

/** Interval of the check for runs that other replicas have claimed. */
const CHECK_INTERVAL_MS = 1_000

/** Stores a lease and renews it until it is ended. Resolves when the lease is stored. */
export async function holdReplicaLease(
  options: LeaseOptions,
  ports: Ports<'log' | 'nowMs' | 'replica' | 'runs'>,
): Promise<ReplicaLease> {
  const { runs, nowMs, log } = ports
  const { replicaId, leaseMs } = options
  const intervalMs = Math.min(CHECK_INTERVAL_MS, leaseMs / 3)
  let renewedAtMs = nowMs()
  let wasRenewedInTime = false
  let isOver = false
  let timer: ReturnType<typeof setTimeout>
  let checking: Promise<void> = Promise.resolve()
  let recovering: Promise<void> | null = null

  const renew = async (): Promise<void> => {
    const now = nowMs()
    await runs.renewReplica(replicaId, now, now + leaseMs)
    wasRenewedInTime = now < renewedAtMs + leaseMs
    renewedAtMs = now
  }
  const checkAndRenew = async (): Promise<void> => {
    try {
      await reportLostRuns(options, ports)
      if (nowMs() >= renewedAtMs + leaseMs / 3) {
        await renew()
        // Not awaited, because the lease must be renewed even while runs are recovered.
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
    // The interval is random, so that replicas that were started together do not query the database
    // together.
    timer = setTimeout(startCheck, intervalMs * (0.8 + 0.2 * Math.random()))
  }
  await renew()
  scheduleCheck()
  return {
    async end() {
      isOver = true
      clearTimeout(timer)
      await checking
      await recovering
      await retireReplica(replicaId, ports)
    },
  }
}

/** Ends the lease of a replica. If the write fails, the lease expires by itself. */
export async function retireReplica(
  replicaId: string,
  { runs, log }: Ports<'log' | 'runs'>,
): Promise<void> {
  await runs.retireReplica(replicaId).catch((error: unknown) => {
    log('warn', 'lease-not-given-back', { why: errorMessage(error) })
  })
}

async function reportLostRuns(
  { replicaId, listRunningTurns, onLost }: LeaseOptions,
  { runs }: Ports<'runs'>,
): Promise<void> {
  const turnIds = listRunningTurns()
  for (let from = 0; from < turnIds.length; from += MAX_RUNS_PER_QUERY) {
    const batch = turnIds.slice(from, from + MAX_RUNS_PER_QUERY)
    const held = await runs.findOwnedRuns(replicaId, batch)
    for (const turnId of batch) if (!held.has(turnId)) onLost(turnId)
  }
}

/** Recovers the turns whose end this replica could not store, and up to 50 runs of dead replicas. */
async function recoverOrphans(
  { replicaId, recover }: LeaseOptions,
  { runs, replica, nowMs, log }: Ports<'log' | 'nowMs' | 'replica' | 'runs'>,
): Promise<void> {
  if (recover === null) return
  try {
    for (const turn of replica.takeUnclosedTurns()) await recover({ ...turn, replicaId })
    for (const orphan of await runs.findOrphanedRuns(nowMs())) await recover(orphan)
  } catch (error) {
    log('warn', 'orphans-not-rescued', { why: errorMessage(error) })
  }
}
