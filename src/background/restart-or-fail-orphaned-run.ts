/**
 * Takes over a turn that nobody works on any more. A background run of which nothing was told but
 * that it has begun is run again, from its start; any other turn ends as failed, and says why.
 * Whatever happens, of several who try this only one gets the run.
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
import type { GatewayDependencies } from '../gateway/dependencies-interface.ts'
import { endRunEarly, type RunConclusion } from './end-run-early.ts'
import type { ActiveRuns, ActiveRunSlot } from './active-runs-and-lease.ts'
import { isRunOrphaned } from './is-run-unfinished-or-orphaned.ts'
import { hasOnlyOpeningEvents } from './event-log/opening-events.ts'
import { readRun } from './event-log/read-complete-run-log.ts'
import { rebuildRequestFromStoredRun } from './rebuild-request-from-stored-run.ts'
import { startRun, type StartedRun } from './generate-into-run-log.ts'

/** Resolves to the run, if it goes on here. */
export async function recoverRun(
  found: FoundRun,
  home: ActiveRuns,
  world: GatewayDependencies,
): Promise<StartedRun | null> {
  const { turnId, tenant, user } = found
  const room = await home.admit(turnId)
  try {
    if (await world.runs.takeRun(found, room.owner)) {
      const again = await runAgain(found, room, world)
      if (again !== null) return again
      await endRunEarly({ turnId, tenant, user, owner: room.owner }, GATEWAY_STOPPED, world)
    }
  } catch (error) {
    world.log('warn', 'run-not-rescued', { turn: turnId, why: errorMessage(error) })
    world.replica.releaseTurn({ turnId, tenant, user })
  }
  await room.leave()
  return null
}

/** For whoever finds an orphan while serving an exchange, which then lasts as long as the run. */
export function createRunRecovery(
  exchange: HttpExchange,
  home: ActiveRuns,
  world: GatewayDependencies,
) {
  return async (found: FoundRun): Promise<void> => {
    const again = await recoverRun(found, home, world)
    if (again !== null) exchange.waitUntil(again.over)
  }
}

export interface RunLookup {
  readonly id: string
  readonly caller: Caller
  readonly exchange: HttpExchange
}

/** Whoever reads a response that is in progress is told of no progress that there is not. */
export async function recoverIfOrphaned(
  { id, caller, exchange }: RunLookup,
  home: ActiveRuns,
  world: GatewayDependencies,
): Promise<void> {
  const turnId = turnIdOfResponse(id)
  if (turnId === null) return
  const run = await queryStoreOrThrow(() => world.runs.readLog(caller, turnId, MAX_EVENT_NUMBER))
  if (run !== null && isRunOrphaned(run, world.nowMs()))
    await createRunRecovery(exchange, home, world)(run)
}

export const GATEWAY_STOPPED: RunConclusion = {
  status: 'failed',
  failure: createFailure(
    'internal_error',
    'The gateway was stopped while it made this response, which is therefore not complete. Ask again.',
  ),
}

/** `null` for what cannot be run again as if nothing had happened. */
async function runAgain(
  { turnId, tenant, user }: FoundRun,
  room: ActiveRunSlot,
  world: GatewayDependencies,
): Promise<StartedRun | null> {
  const caller = { tenant, user }
  const run = await readRun(caller, turnId, world.runs)
  if (run === null || !(await canRunAgain(run, world))) return null
  const chain = await world.store.loadChain(caller, turnId)
  const turn = chain?.at(-1)
  const clientRequest =
    chain === null || turn === undefined ? null : rebuildRequestFromStoredRun(turn, chain)
  if (turn === undefined || clientRequest === null) return null
  world.log('info', 'run-again', { turn: turnId })
  const again = {
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
      if (!standsWhereItStood(placed, turn)) throw movedOn()
      await world.runs.startRun({ turnId, tenant, user, owner: room.owner })
    },
  }
  return startRun(again, room, world)
}

/** What makes a process die every time it is tried must not be tried for ever. */
const TOO_OLD_MS = 60 * 60 * 1000

/** Whether it could be run from its start as if nothing had happened. */
export async function canRunAgain(
  run: RunLogPage,
  { runs, nowMs }: GatewayDependencies,
): Promise<boolean> {
  const { turnId, tenant, background, createdAtMs, groups } = run
  if (!background || createdAtMs < nowMs() - TOO_OLD_MS || !hasOnlyOpeningEvents(groups))
    return false
  return (await runs.journaledItems(tenant, turnId)).size === 0
}

/** A conversation may have gone on from elsewhere since then. */
function standsWhereItStood(placed: NewTurn, turn: StoredTurn): boolean {
  return turn.conversation === null || placed.parent === turn.parent
}

function movedOn(): GatewayError {
  return new GatewayError(
    'conversation_locked',
    'The conversation went on while nobody worked on this response. Ask again.',
    { param: 'conversation' },
  )
}
