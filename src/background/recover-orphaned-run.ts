/**
 * Recovers an orphaned turn, i.e. an unfinished turn whose replica has stopped. A recent background run
 * whose log has only opening events is restarted. Any other turn ends as failed. If several replicas try to
 * recover a run, exactly one claims it.
 */
import type { Caller } from '../core/client/caller.ts'
import { turnIdOfResponse } from '../core/turn-derived-ids.ts'
import { responsesDialect } from '../dialects/responses/responses-dialect.ts'
import type { HttpExchange } from '../gateway/http-exchange-interface.ts'
import { createFailure, GatewayError, errorMessage } from '../core/errors/gateway-error.ts'
import { queryStoreOrThrow } from '../store/query-store-or-throw.ts'
import {
  MAX_EVENT_NUMBER,
  type RunWithReplica,
  type RunLogPage,
} from '../store/background-runs/run-store-interface.ts'
import type { NewTurn, StoredTurn } from '../store/turns/turn-store-interface.ts'
import type { GatewayDependencies, Ports } from '../gateway/dependencies-interface.ts'
import { endRunEarly, type RunConclusion } from './end-run-early.ts'
import type { ActiveRuns, ActiveRunSlot } from './active-runs-and-lease.ts'
import { hasOnlyOpeningEvents } from './event-log/opening-events.ts'
import { readCompleteRunLog } from './event-log/read-complete-run-log.ts'
import { rebuildRequestFromStoredRun } from './rebuild-request-from-stored-run.ts'
import { startRun, type StartedRun } from './start-run.ts'

/**
 * Recovers a run if no other replica has claimed it. Resolves to the run if it was restarted in this
 * process, otherwise to null.
 */
export async function recoverOrphanedRun(
  found: RunWithReplica,
  activeRuns: ActiveRuns,
  ports: GatewayDependencies,
): Promise<StartedRun | null> {
  const { turnId, tenant, user } = found
  const slot = await activeRuns.openSlot(turnId)
  try {
    if (await ports.runs.claimRun(found, slot.replicaId)) {
      const restarted = await restartRun(found, slot, ports)
      if (restarted !== null) return restarted
      await endRunEarly({ turnId, tenant, user, replicaId: slot.replicaId }, GATEWAY_STOPPED, ports)
    }
  } catch (error) {
    ports.log('warn', 'run-not-rescued', { turn: turnId, why: errorMessage(error) })
    ports.replica.reportUnclosedTurn({ turnId, tenant, user })
  }
  await slot.close()
  return null
}

/**
 * Returns a function that recovers a run, for a request that has found the run orphaned. The client does
 * not wait for a restarted run, but Workers keep its request alive until the run ends.
 */
export function createRunRecovery(
  exchange: HttpExchange,
  activeRuns: ActiveRuns,
  ports: GatewayDependencies,
) {
  return async (found: RunWithReplica): Promise<void> => {
    const restarted = await recoverOrphanedRun(found, activeRuns, ports)
    if (restarted !== null) exchange.waitUntil(restarted.whenOver)
  }
}

export interface OrphanCheck {
  readonly responseId: string
  readonly caller: Caller
  readonly exchange: HttpExchange
}

/**
 * Recovers the run of the response that a client is about to read, if the replica of the run has died.
 * Otherwise, the response would stay in progress forever.
 */
export async function recoverIfOrphaned(
  { responseId, caller, exchange }: OrphanCheck,
  activeRuns: ActiveRuns,
  ports: GatewayDependencies,
): Promise<void> {
  const turnId = turnIdOfResponse(responseId)
  if (turnId === null) return
  const run = await queryStoreOrThrow(() => ports.runs.readLog(caller, turnId, MAX_EVENT_NUMBER))
  if (run?.isOrphaned === true) await createRunRecovery(exchange, activeRuns, ports)(run)
}

export const GATEWAY_STOPPED: RunConclusion = {
  status: 'failed',
  failure: createFailure(
    'internal_error',
    'The gateway was stopped while it made this response, which is therefore not complete. Ask again.',
  ),
}

/**
 * Restarts a run from its stored request. Resolves to null if its client would notice the restart, if the
 * run is too old, or if the stored request is unreadable.
 */
async function restartRun(
  { turnId, tenant, user }: RunWithReplica,
  slot: ActiveRunSlot,
  ports: GatewayDependencies,
): Promise<StartedRun | null> {
  const caller = { tenant, user }
  const run = await readCompleteRunLog(caller, turnId, ports.runs)
  if (run === null || !(await canRestartRun(run, ports))) return null
  const memory = ports.requestMemory.openAccount(tenant)
  let started: StartedRun | null = null
  try {
    const chain = await ports.store.loadChain(caller, turnId, {
      claimMemory: memory.claim,
      undecryptable: 'leave-out',
    })
    const turn = chain?.at(-1)
    const clientRequest =
      chain === null || turn === undefined ? null : rebuildRequestFromStoredRun(turn, chain)
    if (turn === undefined || clientRequest === null) return null
    ports.log('info', 'run-again', { turn: turnId })
    const newRun = {
      dialect: responsesDialect,
      clientRequest,
      caller,
      memory,
      // The client's headers are not stored, so options that headers would set have their defaults.
      options: {},
      turnId,
      createdAtMs: turn.createdAtMs,
      isStored: true,
      firstEvent: (run.groups.at(-1)?.last ?? -1) + 1,
      async storeTurn(newTurn: NewTurn) {
        if (!isStillLastTurn(newTurn, turn)) throw createConversationChangedError()
        await ports.runs.startRun({ turnId, tenant, user, replicaId: slot.replicaId })
      },
    }
    started = startRun(newRun, slot, ports)
    return started
  } finally {
    if (started === null) memory.release()
    else void started.whenOver.then(memory.release)
  }
}

/**
 * Maximum age of a run that is restarted. Limited because a request that crashes its process would be
 * repeated forever.
 */
const MAX_RESTART_AGE_MS = 60 * 60 * 1000

/**
 * True for a background run without output that is at most one hour old. Its client does not notice a
 * restart. False for the run of a request with an `Idempotency-Key`, because it may have been sent already.
 */
export async function canRestartRun(
  run: RunLogPage,
  { idempotency, runs, nowMs }: Ports<'idempotency' | 'nowMs' | 'runs'>,
): Promise<boolean> {
  const { turnId, tenant, background, createdAtMs, groups } = run
  if (!background || createdAtMs < nowMs() - MAX_RESTART_AGE_MS || !hasOnlyOpeningEvents(groups))
    return false
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
    'The conversation went on while nobody worked on this response. Ask again.',
    { param: 'conversation' },
  )
}
