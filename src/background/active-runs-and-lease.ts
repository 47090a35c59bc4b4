/**
 * Where runs live. On Node it is the process: one lease for all of its runs, and it looks after what
 * others leave behind. On Workers nothing lasts longer than a request: each run has a lease of its
 * own, and an orphan waits for somebody to ask for it.
 */
import type { FoundRun } from '../store/background-runs/run-store-interface.ts'
import type { GatewayDependencies } from '../gateway/dependencies-interface.ts'
import { holdReplicaLease, type ReplicaLease } from './replica-lease.ts'
import type { RunLog } from './event-log/run-log.ts'

export interface ActiveRuns {
  /** Makes room for a run. What `owner` owns is not orphaned until it leaves. */
  readonly admit: (turnId: string) => Promise<ActiveRunSlot>
  /** The log of a run, if somebody in this process can listen to it. */
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
  world: GatewayDependencies,
): Promise<ProcessActiveRuns> {
  const logs = new Map<string, RunLog>()
  const lease = await holdReplicaLease(
    {
      id,
      leaseMs: getRunLeaseMs(world),
      running: () => [...logs.keys()],
      lost: (turnId) => void logs.get(turnId)?.giveUp(),
      rescue,
    },
    world,
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

export function createRequestActiveRuns(world: GatewayDependencies): ActiveRuns {
  return {
    // What one request holds must not be touched by another.
    find: () => null,
    all: () => [],
    async admit(turnId) {
      let log: RunLog | null = null
      const owner = world.newTurnId()
      const lease = await holdReplicaLease(
        {
          id: owner,
          leaseMs: getRunLeaseMs(world),
          running: () => (log === null ? [] : [turnId]),
          lost: () => void log?.giveUp(),
          rescue: null,
        },
        world,
      )
      return {
        owner,
        keep: (own) => void (log = own),
        leave: lease.giveBack,
      }
    },
  }
}

export function getRunLeaseMs({ settings }: GatewayDependencies): number {
  return settings.RUN_LEASE_SECONDS * 1000
}
