/**
 * Recovers orphaned turns, i.e. unfinished turns whose replica has stopped: restarts a recent or queued background run
 * whose log has only opening events, and ends any other turn as failed. Of several replicas, exactly one claims a run.
 */
import type { Caller } from '../core/client/caller.ts'
import { turnIdOfResponse } from '../core/turn-derived-ids.ts'
import { responsesDialect } from '../dialects/responses/responses-dialect.ts'
import {
  createFailure,
  createStoreUnavailableError,
  GatewayError,
  errorMessage,
} from '../core/errors/gateway-error.ts'
import { queryStoreOrThrow } from '../store/query-store-or-throw.ts'
import {
  MAX_EVENT_NUMBER,
  type OwnedRun,
  type RunWithReplica,
  type RunLogPage,
} from '../store/background-runs/run-store-interface.ts'
import type { NewTurn, StoredTurn } from '../store/turns/turn-store-interface.ts'
import type { GatewayDependencies, Ports } from '../gateway/dependencies-interface.ts'
import { endRunEarly, type RunConclusion } from './end-run-early.ts'
import type { ActiveRuns, ActiveRunSlot } from './active-runs-and-lease.ts'
import {
  createOpeningEvents,
  hasOnlyOpeningEvents,
  hasStarted,
} from './event-log/opening-events.ts'
import { readCompleteRunLog } from './event-log/read-complete-run-log.ts'
import { MAX_START_FAULTS, type PostponedRun } from './queue/run-queue.ts'
import { rebuildRequestFromStoredRun } from './rebuild-request-from-stored-run.ts'
import { startRun, type StartedRun } from './start-run.ts'

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
    if (queue !== null && (await readRestartableRun(found, ports)) !== null)
      queue.add({ turnId, tenant, user }, Promise.resolve())
    else {
      const run = queue === null ? await ports.runs.readLog(found, turnId, MAX_EVENT_NUMBER) : null
      // Only background runs count their starts.
      const conclusion = (run?.startCount ?? 0) > 0 ? WORKER_ENDED : GATEWAY_STOPPED
      await endRunEarly({ turnId, tenant, user, replicaId: slot.replicaId }, conclusion, ports)
    }
    return null
  })
}

/** A run that is to be restarted. `faults`: how many times an error prevented this. */
interface RunToRestart extends RunWithReplica {
  readonly faults: number
  readonly isTask?: boolean
}

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
  const slot = await activeRuns.openSlot(turnId)
  let result: Result | null = null
  try {
    result = await start(slot)
    if (result !== null && !('isPostponed' in result)) return result
  } catch (error) {
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

/** Reads a run with its log. Resolves to null if its client would notice a restart, or if it is too old. */
async function readRestartableRun(
  { turnId, tenant, user }: RunWithReplica,
  ports: Ports<'idempotency' | 'nowMs' | 'runs'>,
): Promise<RunLogPage | null> {
  const run = await readCompleteRunLog({ tenant, user }, turnId, ports.runs)
  return run !== null && (await canRestartRun(run, ports)) ? run : null
}

/**
 * Restarts a run from its stored request. Resolves to null if it has ended or changed its owner, or if the
 * stored request is unreadable. If it cannot be loaded now, postpones the run, or rejects after too many errors.
 */
async function restartRun(
  { turnId, tenant, user, state, groups }: RunLogPage,
  { faults, isTask = false }: Pick<RunToRestart, 'faults' | 'isTask'>,
  slot: ActiveRunSlot,
  ports: GatewayDependencies,
): Promise<StartedRun | PostponedRun | null> {
  const caller = { tenant, user }
  const ownedRun = { turnId, ...caller, replicaId: slot.replicaId }
  const memory = ports.requestMemory.trackRequest(tenant)
  let started: StartedRun | null = null
  try {
    let chain: readonly StoredTurn[] | null
    let isMemoryFull = false
    try {
      // Marks the run as started before its request is loaded. A request that crashes the process is then not restarted
      // forever, because only runs that never started are restarted at any age.
      if (!(await ports.runs.startRun(ownedRun))) return null
      chain = await ports.store.loadChain(caller, turnId, {
        claimMemory(needed) {
          isMemoryFull = true
          memory.claim(needed)
          isMemoryFull = false
        },
        undecryptable: 'leave-out',
      })
    } catch (error) {
      if (!isMemoryFull && faults >= MAX_START_FAULTS) throw error
      // Nothing was sent, so a queued run stays queued.
      if (state === 'queued') await requeueRun(ownedRun, ports)
      if (!isMemoryFull)
        ports.log('warn', 'run-not-rescued', { turn: turnId, why: errorMessage(error) })
      return { isPostponed: true, isFault: !isMemoryFull }
    }
    const turn = chain?.at(-1)
    const clientRequest =
      chain === null || turn === undefined ? null : rebuildRequestFromStoredRun(turn, chain, isTask)
    if (turn === undefined || clientRequest === null) return null
    if (state !== 'queued') ports.log('info', 'run-again', { turn: turnId })
    const identity = { turnId, createdAtMs: turn.createdAtMs }
    const firstEvent = (groups.at(-1)?.last ?? -1) + 1
    const { startedEvents } = createOpeningEvents(responsesDialect, {
      clientRequest,
      ...identity,
      isStored: true,
    })
    const newRun = {
      dialect: responsesDialect,
      clientRequest,
      caller,
      memory,
      // The client's headers are not stored, so options that headers would set have their defaults.
      options: {},
      ...identity,
      isStored: true,
      firstEvent,
      openingEvents: firstEvent === startedEvents.first ? startedEvents : null,
      async storeTurn(newTurn: NewTurn) {
        if (!isStillLastTurn(newTurn, turn)) throw createConversationChangedError()
      },
    }
    started = startRun(newRun, slot, ports)
    return started
  } finally {
    if (started === null) memory.close()
    else void started.whenOver.then(memory.close)
  }
}

/** Marks a run as queued again. Repeats this if it fails, because the database may be unreachable for a moment. */
async function requeueRun(run: OwnedRun, { runs }: Ports<'runs'>): Promise<void> {
  for (const pauseMs of [250, 1_000, 4_000]) {
    try {
      await runs.requeueRun(run)
      return
    } catch {
      await new Promise((resolve) => setTimeout(resolve, pauseMs))
    }
  }
  await runs.requeueRun(run)
}

/**
 * Maximum age and number of starts of a run that is started again: each start may have to be paid for, and a request that
 * crashes its process would be repeated forever.
 */
const MAX_RESTART_AGE_MS = 60 * 60 * 1000
const MAX_STARTS = 3

/**
 * True for a background run without output that never started, or that is at most one hour old. Its client
 * does not notice a restart. False for a started run of a request with an `Idempotency-Key`, because it may
 * have been sent already.
 */
export async function canRestartRun(
  run: RunLogPage,
  { idempotency, runs, nowMs }: Ports<'idempotency' | 'nowMs' | 'runs'>,
): Promise<boolean> {
  const { turnId, tenant, background, createdAtMs, groups, state, startCount } = run
  if (!background || !hasOnlyOpeningEvents(groups) || startCount >= MAX_STARTS) return false
  if (state === 'queued' && !hasStarted(groups)) return true
  if (createdAtMs < nowMs() - MAX_RESTART_AGE_MS) return false
  if ((await runs.findStoredPositions(tenant, turnId)).size > 0) return false
  return !(await idempotency.isTurnOfKey(turnId))
}

/** False if another turn was added to the conversation after the orphaned turn was opened. */
function isStillLastTurn(newTurn: NewTurn, turn: StoredTurn): boolean {
  return turn.conversation === null || newTurn.parent === turn.parent
}

function createConversationChangedError(): GatewayError {
  return new GatewayError(
    'conversation_locked',
    'The conversation was continued before this response could be restarted. Ask again.',
    { param: 'conversation' },
  )
}
