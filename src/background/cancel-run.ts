/**
 * Cancels a run, wherever it runs: it is taken away from its owner, and ended. From then on nothing
 * of it is written any more, so a completion that comes later has no effect, and its owner cancels
 * the upstream as soon as it notices.
 */
import type { Caller } from '../core/client/caller.ts'
import { turnIdOfResponse } from '../core/turn-derived-ids.ts'
import type { JsonObject } from '../core/json/json.ts'
import { GatewayError, errorMessage } from '../core/errors/gateway-error.ts'
import { renderStoredResponse } from '../gateway/respond/render-stored-response.ts'
import type { RunLogPage } from '../store/background-runs/run-store-interface.ts'
import type { GatewayDependencies } from '../gateway/dependencies-interface.ts'
import { CANCELLED, endRunEarly } from './end-run-early.ts'
import { createResponseNotFoundError } from './follow/follow-run.ts'
import { getRunLeaseMs, type ActiveRuns } from './active-runs-and-lease.ts'
import { isTurnUnfinished } from './is-run-unfinished-or-orphaned.ts'
import { readRun } from './event-log/read-complete-run-log.ts'

/** Resolves to the response as it was left. */
export async function cancelRun(
  id: string,
  caller: Caller,
  home: ActiveRuns,
  world: GatewayDependencies,
): Promise<JsonObject> {
  const turnId = turnIdOfResponse(id)
  if (turnId === null) throw createResponseNotFoundError(id)
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const run = await readRun(caller, turnId, world.runs)
    if (run === null || !isVisible(run)) break
    if (!isTurnUnfinished(run.state)) refuseUnlessCancelled(run)
    // If somebody else was faster, what came of it is to be seen now.
    else if (!(await cancelled(run, home, world))) continue
    const turn = await world.archive.loadTurn(caller, turnId)
    if (turn !== null) return renderStoredResponse(turn)
  }
  throw createResponseNotFoundError(id)
}

const MAX_TRIES = 20

/** What is under way and cannot be told of yet is not there. */
function isVisible({ dialect, isDeleted, state, background, isLogged }: RunLogPage): boolean {
  const outlivesClient = background || isLogged
  return dialect === 'responses' && !isDeleted && (outlivesClient || !isTurnUnfinished(state))
}

function refuseUnlessCancelled({ state, background, isLogged }: RunLogPage): void {
  if (!background && !isLogged) throw notCancellable('a synchronous')
  if (state !== 'cancelled') throw notCancellable(ARTICLES[state] ?? `a ${state}`)
}

const ARTICLES: Readonly<Record<string, string>> = {
  complete: 'a completed',
  incomplete: 'an incomplete',
}

function notCancellable(kind: string): GatewayError {
  return new GatewayError('invalid_value', `Cannot cancel ${kind} response.`)
}

async function cancelled(
  run: RunLogPage,
  home: ActiveRuns,
  world: GatewayDependencies,
): Promise<boolean> {
  const { turnId, tenant, user } = run
  const { runs, nowMs, log } = world
  const live = home.find(turnId)
  // For a moment it is an owner of its own, so that it parts the run from whoever runs it.
  const owner = world.newTurnId()
  await runs.renewReplica(owner, nowMs(), nowMs() + getRunLeaseMs(world))
  try {
    if (!(await runs.takeRun(run, owner))) return false
    void live?.giveUp()
    return await endRunEarly({ turnId, tenant, user, owner }, CANCELLED, world)
  } finally {
    await runs.retireReplica(owner).catch((error: unknown) => {
      log('warn', 'lease-not-given-back', { why: errorMessage(error) })
    })
  }
}
