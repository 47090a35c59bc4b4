/**
 * Finds the answer of an earlier request with the same `Idempotency-Key` in the database, and waits for it if that
 * request is still being answered by another process. If that process dies, its turn is recovered like any orphaned turn.
 */
import type { ClientRequest } from '../../core/client-request.ts'
import type { JsonObject } from '../../core/json/json.ts'
import type { GatewayDependencies } from '../../gateway/dependencies-interface.ts'
import type { HttpExchange } from '../../gateway/http-exchange-interface.ts'
import { splitLostFields } from '../../gateway/record/lost-fields-of-stored-request.ts'
import {
  buildOutcomeFromTurn,
  renderStoredResponse,
} from '../../gateway/respond/render-stored-response.ts'
import {
  MAX_EVENT_NUMBER,
  type RunLogPage,
} from '../../store/background-runs/run-store-interface.ts'
import type { KeyClaim } from '../../store/idempotency/idempotency-store-interface.ts'
import type { RunWithReplica } from '../../store/background-runs/run-store-interface.ts'
import { isTurnUnfinished } from '../is-turn-unfinished.ts'
import { recoverOrphanedRun } from '../recover-orphaned-run.ts'
import type { BackgroundAnswerRequest } from '../start-background-response.ts'
import type { EndedAnswer, RunningRequests } from './first-requests.ts'
import {
  createAnswerNotAvailableError,
  createClientDisconnectedError,
} from './idempotency-errors.ts'
import { requireSameFingerprint, type HashedKey } from './idempotency-key.ts'

/** An answer in the database. */
export type StoredAnswer = EndedAnswer | LoggedAnswer | StoredResponse

/** A stream that is read from its event log, and that may be unfinished. */
export interface LoggedAnswer {
  readonly turnId: string
  readonly isLogged: true
}

/** A response object in its present state. */
export interface StoredResponse {
  readonly turnId: string
  readonly response: JsonObject
}

/** Interval at which the database is polled for an answer of another process. */
const POLL_MS = 200

/**
 * Resolves to null if the key is free, because the earlier request was rejected before a model processed it. Rejects
 * if the answer has ended and is not stored, or if the earlier request has another body.
 */
export async function findStoredAnswer(
  request: BackgroundAnswerRequest,
  key: HashedKey,
  { activeRuns, firstRequests }: RunningRequests,
  ports: GatewayDependencies,
): Promise<StoredAnswer | null> {
  const { caller, clientRequest, exchange } = request
  const waitForPoll = createPollTimer(exchange)
  const isUndecided = ({ replicaId }: KeyClaim): boolean =>
    // A request of this process is over if it is not registered any more.
    replicaId === ports.replica.id ? firstRequests.find(key.keyId) !== null : replicaId !== null
  let claim: KeyClaim | null
  for (;;) {
    claim = await ports.idempotency.findClaim(key.keyId)
    if (claim === null) return null
    requireSameFingerprint(claim, key)
    if (!isUndecided(claim)) break
    await waitForPoll()
  }
  const { turnId } = claim
  const recover = (run: RunWithReplica) => recoverOrphanedRun(run, activeRuns, ports)
  let run: RunLogPage | null
  for (;;) {
    run = await ports.runs.readLog(caller, turnId, MAX_EVENT_NUMBER)
    if (run === null || run.isDeleted) throw createAnswerNotAvailableError()
    if (run.isLogged && clientRequest.stream) return { turnId, isLogged: true }
    if (run.background || !isTurnUnfinished(run.state)) break
    if (run.isOrphaned) await recover(run)
    await waitForPoll()
  }
  const turn = await ports.archive.loadTurn(caller, turnId, request.memory.claim)
  if (turn === null) throw createAnswerNotAvailableError()
  const { createdAtMs, endedAtMs } = turn
  const outcome = buildOutcomeFromTurn(turn)
  // Only a background response can be unfinished here, and only a response in the background or with an event log can
  // have been canceled: clients get these in their present state.
  const hasEnded = outcome.finish !== null || outcome.failure !== null
  if (!clientRequest.stream && (run.background || !hasEnded))
    return { turnId, response: renderStoredResponse(turn, readInclude(clientRequest)) }
  const { lostFields } = splitLostFields(turn)
  return { turnId, createdAtMs, outcome, endedAtMs: endedAtMs ?? ports.nowMs(), lostFields }
}

function readInclude({ body }: ClientRequest): readonly string[] {
  const { include } = body
  return Array.isArray(include) ? include.map(String) : []
}

/** Creates a function that waits for the next poll. It rejects once the client has disconnected. */
function createPollTimer({ onDisconnect }: HttpExchange): () => Promise<void> {
  let isDisconnected = false
  onDisconnect(() => (isDisconnected = true))
  return async () => {
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
    if (isDisconnected) throw createClientDisconnectedError()
  }
}
