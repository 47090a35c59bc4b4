/**
 * Registers the unfinished runs of this process and renews their lease. The lease shows other replicas that
 * the runs are alive. On Node, one lease covers all runs, and the process also recovers runs of dead
 * replicas. On Workers, memory does not outlive a request, so each run has its own lease, and an orphaned
 * run is recovered when a client requests its response.
 */
import type { RunWithReplica } from '../store/background-runs/run-store-interface.ts'
import { holdReplicaLease, type ReplicaLease } from './replica-lease.ts'
import { createRunPlaces, type RunLimits, type RunPlaces } from './queue/run-places.ts'
import type { RunQueue } from './queue/run-queue.ts'
import type { RunLog } from './event-log/run-event-log.ts'
import type { Ports } from '../gateway/dependencies-interface.ts'

export interface ActiveRuns {
  /**
   * Opens a slot, the entry of a run in this process. The run is stored with the `replicaId` of the slot. The lease of this replica is
   * renewed until the slot is closed.
   */
  readonly openSlot: (turnId: string) => ActiveRunSlot
  /**
   * Returns the log of a run, to listen to it. Null if the run is not in this process, and always on
   * Workers.
   */
  readonly findLog: (turnId: string) => RunLog | null
  readonly listLogs: () => readonly RunLog[]
  /** The runs that wait until fewer others are in progress; null on Workers, where each run starts at once. */
  readonly queue: RunQueue | null
  /** Limits the streams that can be resumed, which are not queued; null on Workers. */
  readonly resumablePlaces: RunPlaces | null
}

export interface ActiveRunSlot {
  /** Id of the replica that owns the run; on Workers, an id for only this run. */
  readonly replicaId: string
  /**
   * Resolves when the lease of the replica is stored; rejects if that fails. Nothing may be stored with the `replicaId`
   * before, because other replicas would take it for that of a dead replica.
   */
  readonly whenLeased: Promise<void>
  readonly register: (log: RunLog) => void
  readonly close: () => Promise<void>
}

export interface ProcessActiveRuns extends ActiveRuns {
  readonly lease: ReplicaLease
}

export async function createActiveRunsOfProcess(
  id: string,
  queue: RunQueue,
  recover: (run: RunWithReplica) => Promise<void>,
  ports: Ports<'log' | 'nowMs' | 'replica' | 'runs' | 'settings'>,
): Promise<ProcessActiveRuns> {
  const logs = new Map<string, RunLog>()
  const lease = await holdReplicaLease(
    {
      replicaId: id,
      leaseMs: getRunLeaseMs(ports),
      listRunningTurns: () => [...logs.keys()],
      onLost: (turnId) => void logs.get(turnId)?.stopWriting(),
      recover,
    },
    ports,
  )
  return {
    lease,
    queue,
    resumablePlaces: createRunPlaces(getRunLimits(ports)),
    findLog: (turnId) => logs.get(turnId) ?? null,
    listLogs: () => [...logs.values()],
    openSlot(turnId) {
      return {
        replicaId: id,
        whenLeased: Promise.resolve(),
        register: (log) => void logs.set(turnId, log),
        close: async () => void logs.delete(turnId),
      }
    },
  }
}

export function createActiveRunsOfRequest(
  ports: Ports<'log' | 'newTurnId' | 'nowMs' | 'replica' | 'runs' | 'settings'>,
): ActiveRuns {
  return {
    // On Workers, a request cannot use objects of another request, so it cannot listen to the log of its
    // run.
    findLog: () => null,
    queue: null,
    resumablePlaces: null,
    listLogs: () => [],
    openSlot(turnId) {
      let log: RunLog | null = null
      const replicaId = ports.newTurnId()
      // Stored while the history of the request is read, because each takes a round trip to the database.
      const leasing = holdReplicaLease(
        {
          replicaId,
          leaseMs: getRunLeaseMs(ports),
          listRunningTurns: () => (log === null ? [] : [turnId]),
          onLost: () => void log?.stopWriting(),
          recover: null,
        },
        ports,
      )
      const whenLeased = leasing.then(() => undefined)
      // Prevents an unhandled rejection if the request fails before anything is stored.
      whenLeased.catch(() => undefined)
      return {
        replicaId,
        whenLeased,
        register: (newLog) => void (log = newLog),
        async close() {
          const lease = await leasing.catch(() => null)
          await lease?.end()
        },
      }
    },
  }
}

export function getRunLimits({ settings }: Ports<'settings'>): RunLimits {
  return { maxRuns: settings.BACKGROUND_RUNS, maxRunsPerKey: settings.BACKGROUND_RUNS_PER_KEY }
}

export function getRunLeaseMs({ settings }: Ports<'settings'>): number {
  return settings.RUN_LEASE_SECONDS * 1000
}
