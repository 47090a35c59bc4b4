/**
 * Takes over a turn whose replica has stopped. A background run with nothing but its opening events is
 * run again from the start; any other turn ends as failed. If several replicas try this, exactly one
 * gets the run.
 */
import type { Caller } from '../core/client/caller.ts'
import { turnIdOfResponse } from '../core/turn-derived-ids.ts'
import { responsesDialect } from '../dialects/responses/responses-dialect.ts'
import type { HttpExchange } from '../gateway/http-exchange-interface.ts'
import { createFailure, GatewayError, errorMessage } from '../core/errors/gateway-error.ts'
import { queryStoreOrThrow } from '../store/query-store-or-throw.ts'
import {
  MAX_EVENT_NUMBER,
  type FoundRun,
  type RunLogPage,
} from '../store/background-runs/run-store-interface.ts'
import type { NewTurn, StoredTurn } from '../store/turns/turn-store-interface.ts'
import type { GatewayDependencies, Ports } from '../gateway/dependencies-interface.ts'
import { endRunEarly, type RunConclusion } from './end-run-early.ts'
import type { ActiveRuns, ActiveRunSlot } from './active-runs-and-lease.ts'
import { isRunOrphaned } from './is-run-unfinished-or-orphaned.ts'
import { hasOnlyOpeningEvents } from './event-log/opening-events.ts'
import { readRun } from './event-log/read-complete-run-log.ts'
import { rebuildRequestFromStoredRun } from './rebuild-request-from-stored-run.ts'
import { startRun, type StartedRun } from './generate-into-run-log.ts'

/** Resolves to the run if it continues in this process, otherwise to null. */
export async function recoverRun(
  found: FoundRun,
  home: ActiveRuns,
  ports: GatewayDependencies,
): Promise<StartedRun | null> {
  const { turnId, tenant, user } = found
  const slot = await home.admit(turnId)
  try {
    if (await ports.runs.takeRun(found, slot.owner)) {
      const restarted = await restartRun(found, slot, ports)
      if (restarted !== null) return restarted
      await endRunEarly({ turnId, tenant, user, owner: slot.owner }, GATEWAY_STOPPED, ports)
    }
  } catch (error) {
    ports.log('warn', 'run-not-rescued', { turn: turnId, why: errorMessage(error) })
    ports.replica.releaseTurn({ turnId, tenant, user })
  }
  await slot.leave()
  return null
}

/**
 * Creates a recovery function for a request that finds an orphaned run. If the run is
 * restarted, `waitUntil` keeps the execution of that request alive until the run ends; its client does
 * not wait.
 */
export function createRunRecovery(
  exchange: HttpExchange,
  home: ActiveRuns,
  ports: GatewayDependencies,
) {
  return async (found: FoundRun): Promise<void> => {
    const restarted = await recoverRun(found, home, ports)
    if (restarted !== null) exchange.waitUntil(restarted.over)
  }
}

export interface RunLookup {
  readonly id: string
  readonly caller: Caller
  readonly exchange: HttpExchange
}

/** Recovers the run before a client reads its response, which would otherwise stay in progress forever. */
export async function recoverIfOrphaned(
  { id, caller, exchange }: RunLookup,
  home: ActiveRuns,
  ports: GatewayDependencies,
): Promise<void> {
  const turnId = turnIdOfResponse(id)
  if (turnId === null) return
  const run = await queryStoreOrThrow(() => ports.runs.readLog(caller, turnId, MAX_EVENT_NUMBER))
  if (run !== null && isRunOrphaned(run, ports.nowMs()))
    await createRunRecovery(exchange, home, ports)(run)
}

export const GATEWAY_STOPPED: RunConclusion = {
  status: 'failed',
  failure: createFailure(
    'internal_error',
    'The gateway was stopped while it made this response, which is therefore not complete. Ask again.',
  ),
}

/** Resolves to null if the run cannot start again unnoticed. */
async function restartRun(
  { turnId, tenant, user }: FoundRun,
  slot: ActiveRunSlot,
  ports: GatewayDependencies,
): Promise<StartedRun | null> {
  const caller = { tenant, user }
  const run = await readRun(caller, turnId, ports.runs)
  if (run === null || !(await canRestart(run, ports))) return null
  const chain = await ports.store.loadChain(caller, turnId)
  const turn = chain?.at(-1)
  const clientRequest =
    chain === null || turn === undefined ? null : rebuildRequestFromStoredRun(turn, chain)
  if (turn === undefined || clientRequest === null) return null
  ports.log('info', 'run-again', { turn: turnId })
  const newRun = {
    dialect: responsesDialect,
    clientRequest,
    caller,
    // The headers of the first attempt are not stored.
    options: {},
    turnId,
    createdAtMs: turn.createdAtMs,
    logged: (run.groups.at(-1)?.last ?? -1) + 1,
    opensWith: 0,
    async open(placed: NewTurn) {
      if (!isStillLast(placed, turn)) throw createConversationChangedError()
      await ports.runs.startRun({ turnId, tenant, user, owner: slot.owner })
    },
  }
  return startRun(newRun, slot, ports)
}

/** Max age of a run that is tried again: a request that crashes its process must not be repeated forever. */
const MAX_RESTART_AGE_MS = 60 * 60 * 1000

/** True if the run can start again without a visible difference. */
export async function canRestart(
  run: RunLogPage,
  { runs, nowMs }: Ports<'nowMs' | 'runs'>,
): Promise<boolean> {
  const { turnId, tenant, background, createdAtMs, groups } = run
  if (!background || createdAtMs < nowMs() - MAX_RESTART_AGE_MS || !hasOnlyOpeningEvents(groups))
    return false
  return (await runs.journaledItems(tenant, turnId)).size === 0
}

/** False if the conversation has got other turns since. */
function isStillLast(placed: NewTurn, turn: StoredTurn): boolean {
  return turn.conversation === null || placed.parent === turn.parent
}

function createConversationChangedError(): GatewayError {
  return new GatewayError(
    'conversation_locked',
    'The conversation went on while nobody worked on this response. Ask again.',
    { param: 'conversation' },
  )
}
