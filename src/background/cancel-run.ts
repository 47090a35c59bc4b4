/**
 * Cancels a run of any replica: claims the run, and ends it. From then on, the former replica can write
 * nothing to the run. The former replica notices this within about a second, and cancels the upstream
 * request.
 */
import type { Caller } from '../core/client/caller.ts'
import { turnIdOfResponse } from '../core/turn-derived-ids.ts'
import type { JsonObject } from '../core/json/json.ts'
import { GatewayError } from '../core/errors/gateway-error.ts'
import { renderStoredResponse } from '../gateway/respond/render-stored-response.ts'
import type { RunLogPage } from '../store/background-runs/run-store-interface.ts'
import { CANCELLED, endRunEarly } from './end-run-early.ts'
import { createResponseNotFoundError } from './follow/follow-run.ts'
import { getRunLeaseMs, type ActiveRuns } from './active-runs-and-lease.ts'
import { isTurnUnfinished } from './is-turn-unfinished.ts'
import { readCompleteRunLog } from './event-log/read-complete-run-log.ts'
import type { Ports } from '../gateway/dependencies-interface.ts'
import type { RequestMemory } from '../gateway/request-memory.ts'
import { retireReplica } from './replica-lease.ts'

/**
 * Cancels the run of a response. Resolves to the cancelled response. Changes nothing if too little `memory` is free for
 * the log of the run.
 */
export async function cancelRun(
  id: string,
  caller: Caller,
  { activeRuns, memory }: { readonly activeRuns: ActiveRuns; readonly memory: RequestMemory },
  ports: Ports<'archive' | 'log' | 'newTurnId' | 'nowMs' | 'runs' | 'settings' | 'store'>,
): Promise<JsonObject> {
  const turnId = turnIdOfResponse(id)
  if (turnId === null) throw createResponseNotFoundError(id)
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    memory.release()
    // Read before the run is claimed, because a claimed run can no longer be left to its replica. `endRunEarly` reads it
    // again, as the replica may have added events; the memory for both is claimed here.
    const run = await readCompleteRunLog(caller, turnId, ports.runs, memory.claim)
    if (run === null || !isVisible(run)) break
    if (!isTurnUnfinished(run.state)) throwUnlessCancelled(run)
    // Tries again if another replica changed the run at the same time.
    else if (!(await claimAndCancel(run, activeRuns, ports))) continue
    // Claims nothing more: the run is cancelled, so an error would be wrong.
    const turn = await ports.archive.loadTurn(caller, turnId)
    if (turn !== null) return renderStoredResponse(turn)
  }
  throw createResponseNotFoundError(id)
}

const MAX_TRIES = 20

/** True if clients can read the response. An ordinary response cannot be read before it is finished. */
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

async function claimAndCancel(
  run: RunLogPage,
  activeRuns: ActiveRuns,
  ports: Ports<'log' | 'newTurnId' | 'nowMs' | 'runs' | 'settings' | 'store'>,
): Promise<boolean> {
  const { turnId, tenant, user } = run
  const { runs, nowMs } = ports
  const activeLog = activeRuns.findLog(turnId)
  // Claims the run for a temporary owner id, so that its present replica can no longer write to it, even if
  // that is this process.
  const owner = ports.newTurnId()
  await runs.renewReplica(owner, getRunLeaseMs(ports), nowMs())
  try {
    if (!(await runs.claimRun(run, owner))) return false
    void activeLog?.stopWriting()
    const isCancelled = await endRunEarly(
      { turnId, tenant, user, replicaId: owner },
      CANCELLED,
      ports,
    )
    activeRuns.queue?.remove(run)
    return isCancelled
  } finally {
    await retireReplica(owner, ports)
  }
}
