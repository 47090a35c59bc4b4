/**
 * Registers the runs of this process and keeps their lease, which shows other replicas that the runs
 * are alive. On Node one lease covers all runs, and the process also recovers runs of dead replicas.
 * On Workers nothing outlives a request, so each run has its own lease, and an orphaned run is
 * recovered when a client requests it.
 */
import type { FoundRun } from '../store/background-runs/run-store-interface.ts'
import { holdReplicaLease, type ReplicaLease } from './replica-lease.ts'
import type { RunLog } from './event-log/run-event-log.ts'
import type { Ports } from '../gateway/dependencies-interface.ts'

export interface ActiveRuns {
  /** Creates a slot for a run. Its `owner` keeps the lease until `leave` is called. */
  readonly admit: (turnId: string) => Promise<ActiveRunSlot>
  /** Returns the log of a run if this process can listen to it. */
  readonly find: (turnId: string) => RunLog | null
  readonly all: () => readonly RunLog[]
}

export interface ActiveRunSlot {
  readonly owner: string
  readonly keep: (log: RunLog) => void
  readonly leave: () => Promise<void>
}

export interface ProcessActiveRuns extends ActiveRuns {
  readonly lease: ReplicaLease
}

export async function createProcessActiveRuns(
  id: string,
  rescue: (run: FoundRun) => Promise<void>,
  ports: Ports<'log' | 'nowMs' | 'replica' | 'runs' | 'settings'>,
): Promise<ProcessActiveRuns> {
  const logs = new Map<string, RunLog>()
  const lease = await holdReplicaLease(
    {
      id,
      leaseMs: getRunLeaseMs(ports),
      running: () => [...logs.keys()],
      lost: (turnId) => void logs.get(turnId)?.giveUp(),
      rescue,
    },
    ports,
  )
  return {
    lease,
    find: (turnId) => logs.get(turnId) ?? null,
    all: () => [...logs.values()],
    async admit(turnId) {
      return {
        owner: id,
        keep: (log) => void logs.set(turnId, log),
        leave: async () => void logs.delete(turnId),
      }
    },
  }
}

export function createRequestActiveRuns(
  ports: Ports<'log' | 'newTurnId' | 'nowMs' | 'replica' | 'runs' | 'settings'>,
): ActiveRuns {
  return {
    // Workers do not let one request use objects of another.
    find: () => null,
    all: () => [],
    async admit(turnId) {
      let log: RunLog | null = null
      const owner = ports.newTurnId()
      const lease = await holdReplicaLease(
        {
          id: owner,
          leaseMs: getRunLeaseMs(ports),
          running: () => (log === null ? [] : [turnId]),
          lost: () => void log?.giveUp(),
          rescue: null,
        },
        ports,
      )
      return {
        owner,
        keep: (newLog) => void (log = newLog),
        leave: lease.giveBack,
      }
    },
  }
}

export function getRunLeaseMs({ settings }: Ports<'settings'>): number {
  return settings.RUN_LEASE_SECONDS * 1000
}
