/**
 * Cancels a run of any replica: takes the run from its owner and ends it. From then on the former
 * owner's writes have no effect, and it cancels the upstream request as soon as it notices.
 */
import type { Caller } from '../core/client/caller.ts'
import { turnIdOfResponse } from '../core/turn-derived-ids.ts'
import type { JsonObject } from '../core/json/json.ts'
import { GatewayError, errorMessage } from '../core/errors/gateway-error.ts'
import { renderStoredResponse } from '../gateway/respond/render-stored-response.ts'
import type { RunLogPage } from '../store/background-runs/run-store-interface.ts'
import { CANCELLED, endRunEarly } from './end-run-early.ts'
import { createResponseNotFoundError } from './follow/follow-run.ts'
import { getRunLeaseMs, type ActiveRuns } from './active-runs-and-lease.ts'
import { isTurnUnfinished } from './is-run-unfinished-or-orphaned.ts'
import { readRun } from './event-log/read-complete-run-log.ts'
import type { Ports } from '../gateway/dependencies-interface.ts'

/** Resolves to the cancelled response. */
export async function cancelRun(
  id: string,
  caller: Caller,
  home: ActiveRuns,
  ports: Ports<'archive' | 'log' | 'newTurnId' | 'nowMs' | 'runs' | 'settings' | 'store'>,
): Promise<JsonObject> {
  const turnId = turnIdOfResponse(id)
  if (turnId === null) throw createResponseNotFoundError(id)
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const run = await readRun(caller, turnId, ports.runs)
    if (run === null || !isVisible(run)) break
    if (!isTurnUnfinished(run.state)) throwUnlessCancelled(run)
    // Another replica changed the run at the same time: read the new state.
    else if (!(await takeOverAndCancel(run, home, ports))) continue
    const turn = await ports.archive.loadTurn(caller, turnId)
    if (turn !== null) return renderStoredResponse(turn)
  }
  throw createResponseNotFoundError(id)
}

const MAX_TRIES = 20

/** False for unfinished responses of ordinary requests, which clients cannot read yet. */
function isVisible({ dialect, isDeleted, state, background, isLogged }: RunLogPage): boolean {
  const outlivesClient = background || isLogged
  return dialect === 'responses' && !isDeleted && (outlivesClient || !isTurnUnfinished(state))
}

function throwUnlessCancelled({ state, background, isLogged }: RunLogPage): void {
  if (!background && !isLogged) throw createNotCancellableError('a synchronous')
  if (state !== 'cancelled') throw createNotCancellableError(STATE_LABELS[state] ?? `a ${state}`)
}

const STATE_LABELS: Readonly<Record<string, string>> = {
  complete: 'a completed',
  incomplete: 'an incomplete',
}

function createNotCancellableError(kind: string): GatewayError {
  return new GatewayError('invalid_value', `Cannot cancel ${kind} response.`)
}

async function takeOverAndCancel(
  run: RunLogPage,
  home: ActiveRuns,
  ports: Ports<'log' | 'newTurnId' | 'nowMs' | 'runs' | 'settings' | 'store'>,
): Promise<boolean> {
  const { turnId, tenant, user } = run
  const { runs, nowMs, log } = ports
  const activeLog = home.find(turnId)
  // A temporary owner separates the run from its present one, even in this process.
  const owner = ports.newTurnId()
  await runs.renewReplica(owner, nowMs(), nowMs() + getRunLeaseMs(ports))
  try {
    if (!(await runs.takeRun(run, owner))) return false
    void activeLog?.giveUp()
    return await endRunEarly({ turnId, tenant, user, owner }, CANCELLED, ports)
  } finally {
    await runs.retireReplica(owner).catch((error: unknown) => {
      log('warn', 'lease-not-given-back', { why: errorMessage(error) })
    })
  }
}
