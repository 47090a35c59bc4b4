/**
 * Renews the lease of a replica, with one write for all of its runs. Also detects runs that other replicas
 * have claimed, and recovers runs of dead replicas. The clock of the database
 * decides which replicas are dead; the clock of this process only measures intervals.
 */
import { errorMessage } from '../core/errors/gateway-error.ts'
import {
  MAX_ORPHANS_PER_QUERY,
  MAX_RUNS_PER_QUERY,
  type RunStore,
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

/** Interval of the check for runs that other replicas have claimed, and for runs of dead replicas. */
const CHECK_INTERVAL_MS = 1_000

/** Stores a lease and renews it until it is ended. Resolves when the lease is stored. */
export async function holdReplicaLease(
  options: LeaseOptions,
  ports: Ports<'log' | 'nowMs' | 'replica' | 'runs'>,
): Promise<ReplicaLease> {
  const { runs, nowMs, log } = ports
  const { replicaId, leaseMs, recover } = options
  const intervalMs = Math.min(CHECK_INTERVAL_MS, leaseMs / 3)
  let renewedAtMs = 0
  let isOver = false
  let timer: ReturnType<typeof setTimeout>
  let checking: Promise<void> = Promise.resolve()
  let recovering: Promise<void> | null = null

  const renew = async (): Promise<void> => {
    const sentAtMs = performance.now()
    await runs.renewReplica(replicaId, leaseMs, nowMs())
    renewedAtMs = sentAtMs
  }
  const checkAndRenew = async (): Promise<void> => {
    try {
      await reportLostRuns(options, ports)
      if (performance.now() >= renewedAtMs + leaseMs / 3) await renew()
      // Not awaited, because the lease must be renewed even while runs are recovered.
      if (recover !== null)
        recovering ??= recoverOrphans(replicaId, recover, () => isOver, ports).finally(
          () => (recovering = null),
        )
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

/** Number of runs that are recovered at a time. */
const MAX_RECOVERING_RUNS = 8

/** Recovers the turns whose end this replica could not store, and all runs of dead replicas. */
async function recoverOrphans(
  replicaId: string,
  recover: (run: RunWithReplica) => Promise<void>,
  isOver: () => boolean,
  { runs, replica, log }: Ports<'log' | 'replica' | 'runs'>,
): Promise<void> {
  const unclosed = replica.takeUnclosedTurns().map((turn) => ({ ...turn, replicaId }))
  const orphans = listOrphans(unclosed, runs)
  // All loops read from one generator, so each run is recovered by one of them.
  const recoverNext = async (): Promise<void> => {
    try {
      for await (const orphan of orphans) {
        if (isOver()) return
        await recover(orphan)
      }
    } catch (error) {
      log('warn', 'orphans-not-rescued', { why: errorMessage(error) })
    }
  }
  await Promise.all(Array.from({ length: MAX_RECOVERING_RUNS }, recoverNext))
}

async function* listOrphans(
  unclosed: readonly RunWithReplica[],
  runs: RunStore,
): AsyncGenerator<RunWithReplica> {
  yield* unclosed
  let page: readonly RunWithReplica[] = []
  do {
    page = await runs.findOrphanedRuns(page.at(-1)?.turnId ?? '')
    yield* page
  } while (page.length === MAX_ORPHANS_PER_QUERY)
}
