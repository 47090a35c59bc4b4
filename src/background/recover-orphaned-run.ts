/**
 * Recovers orphaned turns, i.e. unfinished turns whose replica has stopped: restarts a recent or queued background run
 * whose log has only opening events, and ends any other turn as failed. Of several replicas, exactly one claims a run.
 */
import type { Caller } from '../core/client/caller.ts'
import { turnIdOfResponse } from '../core/turn-derived-ids.ts'
import {
  createFailure,
  createStoreUnavailableError,
  errorMessage,
} from '../core/errors/gateway-error.ts'
import { queryStoreOrThrow } from '../store/query-store-or-throw.ts'
import {
  MAX_EVENT_NUMBER,
  type OwnedRun,
  type RunWithReplica,
  type RunLogPage,
} from '../store/background-runs/run-store-interface.ts'
import type { GatewayDependencies } from '../gateway/dependencies-interface.ts'
import { RequestMemoryError } from '../gateway/request-memory.ts'
import { endRunEarly, type RunConclusion } from './end-run-early.ts'
import type { ActiveRuns, ActiveRunSlot } from './active-runs-and-lease.ts'
import type { PostponedRun } from './queue/run-queue.ts'
import { readRestartableRun, restartRun, type RestartOptions } from './restart-run.ts'
import type { StartedRun } from './start-run.ts'

/**
 * Recovers a run if no other replica has claimed it: queues it if it can be restarted, and ends it otherwise. On
 * Workers it is always ended: its request was sent already, and a restart could end in the same way.
 */
export async function recoverOrphanedRun(
  found: RunWithReplica,
  activeRuns: ActiveRuns,
  ports: GatewayDependencies,
): Promise<void> {
  const { turnId, tenant, user } = found
  await withSlot(found, activeRuns, ports, async (slot) => {
    if (!(await ports.runs.claimRun(found, slot.replicaId))) return null
    const { queue } = activeRuns
    const ownedRun = { turnId, tenant, user, replicaId: slot.replicaId }
    if (queue === null) {
      const run = await ports.runs.readLog(found, turnId, MAX_EVENT_NUMBER)
      // Only background runs count their starts.
      const conclusion = (run?.startCount ?? 0) > 0 ? WORKER_ENDED : GATEWAY_STOPPED
      // Claims no memory: there, the limit of one request stays the same, and the run could never be ended.
      await endRunEarly(ownedRun, conclusion, ports)
    } else if ((await readRestartableRun(found, ports)) !== null)
      queue.add({ turnId, tenant, user }, Promise.resolve())
    else await endWhenMemoryIsFree(ownedRun, ports)
    return null
  })
}

/** Ends a run as failed. Rejects if too little memory is free for its log; the run is then recovered later. */
async function endWhenMemoryIsFree(run: OwnedRun, ports: GatewayDependencies): Promise<void> {
  const memory = ports.requestMemory.trackRequest(run.tenant)
  try {
    await endRunEarly(run, GATEWAY_STOPPED, ports, memory.claim)
  } finally {
    memory.close()
  }
}

type RunToRestart = RunWithReplica & RestartOptions

/**
 * Starts a queued run of this replica. Resolves to null if it was canceled, or cannot be started. A run for which too
 * little memory is free, or which cannot be loaded, stays queued and is postponed.
 */
export async function startQueuedRun(
  queued: RunToRestart,
  activeRuns: ActiveRuns,
  ports: GatewayDependencies,
): Promise<StartedRun | PostponedRun | null> {
  return withSlot(queued, activeRuns, ports, async (slot) =>
    restartOrFail(await readRestartableRun(queued, ports), queued, slot, ports),
  )
}

/**
 * Opens a slot for a run, and closes it if `start` starts no run. If `start` fails, reports the turn, so that it is
 * recovered later.
 */
async function withSlot<Result extends StartedRun | PostponedRun | null>(
  { turnId, tenant, user }: RunWithReplica,
  activeRuns: ActiveRuns,
  ports: GatewayDependencies,
  start: (slot: ActiveRunSlot) => Promise<Result>,
): Promise<Result | null> {
  const slot = activeRuns.openSlot(turnId)
  await slot.whenLeased
  let result: Result | null = null
  try {
    result = await start(slot)
    if (result !== null && !('isPostponed' in result)) return result
  } catch (error) {
    // Too little memory is no error, however long it lasts.
    if (!(error instanceof RequestMemoryError))
      ports.log('warn', 'run-not-rescued', { turn: turnId, why: errorMessage(error) })
    ports.replica.reportUnclosedTurn({ turnId, tenant, user })
  }
  await slot.close()
  return result
}

/** Restarts a run. If `run` is null, or cannot be restarted, ends the run as failed and resolves to null. */
async function restartOrFail(
  run: RunLogPage | null,
  { turnId, tenant, user, ...restart }: RunToRestart,
  slot: ActiveRunSlot,
  ports: GatewayDependencies,
): Promise<StartedRun | PostponedRun | null> {
  const restarted = run === null ? null : await restartRun(run, restart, slot, ports)
  if (restarted === null)
    await endRunEarly({ turnId, tenant, user, replicaId: slot.replicaId }, GATEWAY_STOPPED, ports)
  return restarted
}

export interface OrphanCheck {
  readonly responseId: string
  readonly caller: Caller
}

/**
 * Recovers the run of the response that a client is about to read, change or continue, if the replica of the run has
 * died. Otherwise, the response would stay in progress forever. Resolves to true if it was recovered.
 */
export async function recoverIfOrphaned(
  { responseId, caller }: OrphanCheck,
  activeRuns: ActiveRuns,
  ports: GatewayDependencies,
): Promise<boolean> {
  const turnId = turnIdOfResponse(responseId)
  if (turnId === null) return false
  const read = () => queryStoreOrThrow(() => ports.runs.readLog(caller, turnId, MAX_EVENT_NUMBER))
  const run = await read()
  if (run?.isOrphaned !== true) return false
  await recoverOrphanedRun(run, activeRuns, ports)
  if ((await read())?.isOrphaned === true)
    throw createStoreUnavailableError(
      'This response was interrupted, and its end cannot be stored at the moment. Try again in a moment; the log of the gateway says why.',
    )
  return true
}

/** Recovers orphaned runs of all callers, at most `maxRuns`. */
export async function recoverOrphanedRuns(
  maxRuns: number,
  activeRuns: ActiveRuns,
  ports: GatewayDependencies,
): Promise<void> {
  const orphans = await ports.runs.findOrphanedRuns('')
  for (const run of orphans.slice(0, maxRuns)) await recoverOrphanedRun(run, activeRuns, ports)
}

export const GATEWAY_STOPPED: RunConclusion = {
  status: 'failed',
  failure: createFailure(
    'internal_error',
    'The gateway was stopped while it made this response, which is therefore not complete. Ask again.',
  ),
}

/** Cloudflare ends a Worker about 30 seconds after its client has left, and also if it exceeds a limit. */
const WORKER_ENDED: RunConclusion = {
  status: 'failed',
  failure: createFailure(
    'internal_error',
    'The Worker that made this response was ended before the response was complete. On Cloudflare Workers, a background response has about 30 seconds after its client has left. Ask again with `stream: true`, and read the stream to its end.',
  ),
}
