/** Restarts a run that no client has received output of, from the request that its turn stores. */
import { responsesDialect } from '../dialects/responses/responses-dialect.ts'
import { errorMessage, GatewayError } from '../core/errors/gateway-error.ts'
import type {
  OwnedRun,
  RunLogPage,
  RunWithReplica,
} from '../store/background-runs/run-store-interface.ts'
import type { NewTurn, StoredTurn } from '../store/turns/turn-store-interface.ts'
import type { GatewayDependencies, Ports } from '../gateway/dependencies-interface.ts'
import type { ActiveRunSlot } from './active-runs-and-lease.ts'
import {
  createOpeningEvents,
  hasOnlyOpeningEvents,
  hasStarted,
} from './event-log/opening-events.ts'
import { MAX_START_FAULTS, type PostponedRun } from './queue/run-queue.ts'
import { rebuildRequestFromStoredRun } from './rebuild-request-from-stored-run.ts'
import { startRun, type StartedRun } from './start-run.ts'

/**
 * Reads a run with the first page of its log, which is the complete log of a run that can be restarted. Resolves to null
 * if its client would notice a restart, or if it is too old.
 */
export async function readRestartableRun(
  { turnId, tenant, user }: RunWithReplica,
  ports: Ports<'idempotency' | 'nowMs' | 'runs'>,
): Promise<RunLogPage | null> {
  const run = await ports.runs.readLog({ tenant, user }, turnId, 0)
  return run !== null && (await canRestartRun(run, ports)) ? run : null
}

export interface RestartOptions {
  /** Number of earlier attempts to restart the run that ended with an error. */
  readonly faults: number
  readonly isTask?: boolean
}

/**
 * Restarts a run from its stored request. Resolves to null if it has ended or changed its owner, or if the
 * stored request is unreadable. If it cannot be loaded now, postpones the run, or rejects after too many errors.
 */
export async function restartRun(
  { turnId, tenant, user, state, groups }: RunLogPage,
  { faults, isTask = false }: RestartOptions,
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
