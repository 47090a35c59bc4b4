/**
 * Keeps the lease of a replica, by one write for all that it runs, and tells what it has lost of its
 * runs and what others have left behind. A lease that could not be renewed in time is no lease: who
 * comes back from that first waits until the others had their chance to come back as well.
 */
import { errorMessage } from '../core/errors/gateway-error.ts'
import { MAX_RUNS_PER_QUERY, type FoundRun } from '../store/background-runs/run-store-interface.ts'
import type { GatewayDependencies } from '../gateway/dependencies-interface.ts'

export interface LeaseOptions {
  readonly id: string
  readonly leaseMs: number
  /** The turns that are run here, as far as they may be lost. */
  readonly running: () => readonly string[]
  readonly lost: (turnId: string) => void
  /** `null`: it does not look after others. */
  readonly rescue: ((run: FoundRun) => Promise<void>) | null
}

export interface ReplicaLease {
  /** Lets others know at once that its runs are free. */
  readonly giveBack: () => Promise<void>
}

/** How soon a run that was taken away is noticed. */
const LOOK_MS = 1_000

/** Resolves when the lease is held. */
export async function holdReplicaLease(
  of: LeaseOptions,
  world: GatewayDependencies,
): Promise<ReplicaLease> {
  const { runs, nowMs, log } = world
  const { id, leaseMs } = of
  const everyMs = Math.min(LOOK_MS, leaseMs / 3)
  let renewedAtMs = nowMs()
  let wasKept = false
  let isOver = false
  let timer: ReturnType<typeof setTimeout>
  let tick: Promise<void> = Promise.resolve()
  let rescuing: Promise<void> | null = null

  const renew = async (): Promise<void> => {
    const now = nowMs()
    await runs.renewReplica(id, now, now + leaseMs)
    wasKept = now < renewedAtMs + leaseMs
    renewedAtMs = now
  }
  const work = async (): Promise<void> => {
    try {
      await noticeLost(of, world)
      if (nowMs() >= renewedAtMs + leaseMs / 3) {
        await renew()
        // However long that takes, the lease is kept meanwhile.
        if (wasKept) rescuing ??= rescueOrphans(of, world).finally(() => (rescuing = null))
      }
    } catch (error) {
      log('warn', 'lease-not-kept', { why: errorMessage(error) })
    }
    if (!isOver) next()
  }
  const begin = (): void => {
    tick = work()
  }
  const next = (): void => {
    // Replicas that were started together need not ask together.
    timer = setTimeout(begin, everyMs * (0.8 + 0.2 * Math.random()))
  }
  await renew()
  next()
  return {
    async giveBack() {
      isOver = true
      clearTimeout(timer)
      await tick
      await rescuing
      await runs.retireReplica(id)
    },
  }
}

async function noticeLost(
  { id, running, lost }: LeaseOptions,
  { runs }: GatewayDependencies,
): Promise<void> {
  const ours = running()
  for (let from = 0; from < ours.length; from += MAX_RUNS_PER_QUERY) {
    const asked = ours.slice(from, from + MAX_RUNS_PER_QUERY)
    const held = await runs.heldRuns(id, asked)
    for (const turnId of asked) if (!held.has(turnId)) lost(turnId)
  }
}

/** Its own that it could not end, and some of those whose replicas died. */
async function rescueOrphans(
  { id, rescue }: LeaseOptions,
  { runs, replica, nowMs, log }: GatewayDependencies,
): Promise<void> {
  if (rescue === null) return
  try {
    for (const own of replica.takeReleasedTurns()) await rescue({ ...own, owner: id })
    for (const orphan of await runs.orphanedRuns(nowMs())) await rescue(orphan)
  } catch (error) {
    log('warn', 'orphans-not-rescued', { why: errorMessage(error) })
  }
}
