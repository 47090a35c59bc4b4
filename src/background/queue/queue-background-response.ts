/**
 * Stores a background run that cannot start yet, because too many others are in progress, and adds it to the queue. Nothing is sent to an
 * upstream; when the run starts, its request is loaded from the database.
 */
import type { JsonObject } from '../../core/json/json.ts'
import {
  answerRequest,
  createAnswerIdentity,
  type AnswerIdentity,
} from '../../gateway/answer-request.ts'
import type { GatewayDependencies } from '../../gateway/dependencies-interface.ts'
import type { HttpExchange } from '../../gateway/http-exchange-interface.ts'
import type { NewTurn } from '../../store/turns/turn-store-interface.ts'
import { createOpeningEvents } from '../event-log/opening-events.ts'
import type { RunLog } from '../event-log/run-event-log.ts'
import type { RunRequest } from '../start-run.ts'
import type { RunQueue } from './run-queue.ts'

export interface BackgroundResponse {
  readonly turnId: string
  /** The response object with `status: "queued"`. */
  readonly response: JsonObject
  /** Null while the run is queued. */
  readonly liveLog: RunLog | null
}

/** Resolves when the run is stored; rejects if the request is invalid or cannot be stored. */
export async function queueBackgroundResponse(
  request: RunRequest & { readonly exchange: HttpExchange; readonly identity?: AnswerIdentity },
  queue: RunQueue,
  ports: GatewayDependencies,
): Promise<BackgroundResponse> {
  const { dialect, clientRequest, caller, memory } = request
  const identity = request.identity ?? createAnswerIdentity(ports)
  const { response, queuedEvents } = createOpeningEvents(dialect, {
    clientRequest,
    ...identity,
    isStored: true,
  })
  const openTurn = (turn: NewTurn): Promise<void> =>
    ports.runs.openRun({ ...turn, background: true }, queuedEvents)
  const storing = answerRequest(
    {
      ...request,
      clientRequest: { ...clientRequest, storage: { ...clientRequest.storage, store: true } },
      identity,
      turnStore: { ...ports.store, openTurn },
      isAnsweredLater: true,
    },
    ports,
  )
  const run = { turnId: identity.turnId, ...caller, isTask: clientRequest.client.isTask }
  queue.add(run, storing)
  try {
    await storing
  } catch (error) {
    queue.remove(run)
    throw error
  }
  // The stream of a queued run stays open, but the request is no longer in memory.
  memory.release()
  return { turnId: identity.turnId, response, liveLog: null }
}
