/**
 * Answers a request with `background: true` immediately: with a response object of the status `queued`, or
 * with a stream that begins with such an object. The run continues if the client disconnects. If too many
 * other runs are in progress, it is queued first.
 */
import { createAnswerIdentity, type AnswerIdentity } from '../gateway/answer-request.ts'
import type { GatewayDependencies } from '../gateway/dependencies-interface.ts'
import type { NewTurn } from '../store/turns/turn-store-interface.ts'
import type { ActiveRuns } from './active-runs-and-lease.ts'
import { createOpeningEvents } from './event-log/opening-events.ts'
import { streamRunLog } from './follow/follow-run.ts'
import {
  queueBackgroundResponse,
  type BackgroundResponse,
} from './queue/queue-background-response.ts'
import { freeIfNotPrepared } from './queue/run-places.ts'
import { startRun, type RunRequest } from './start-run.ts'
import type { HttpExchange } from '../gateway/http-exchange-interface.ts'

export interface BackgroundAnswerRequest extends RunRequest {
  readonly exchange: HttpExchange
  /** True if the client may resume the stream after a disconnect. */
  readonly isResumable: boolean
  /** The id and time of the answer; created if undefined. */
  readonly identity?: AnswerIdentity
}

export async function startBackgroundResponse(
  request: BackgroundAnswerRequest,
  activeRuns: ActiveRuns,
  ports: GatewayDependencies,
): Promise<Response> {
  const { clientRequest, caller, exchange } = request
  const { queue } = activeRuns
  const freePlace = queue === null ? null : queue.takePlace(caller.tenant)
  const { turnId, response, liveLog } =
    queue !== null && freePlace === null
      ? await queueBackgroundResponse(request, queue, ports)
      : await startAtOnce(request, freePlace ?? NO_PLACE, activeRuns, ports)
  if (clientRequest.stream)
    return streamRunLog({ turnId, caller, firstEvent: 0, liveLog }, exchange, activeRuns, ports)
  return Response.json(response)
}

/** On Workers, places are not counted. */
const NO_PLACE = (): void => undefined

async function startAtOnce(
  request: BackgroundAnswerRequest,
  freePlace: () => void,
  activeRuns: ActiveRuns,
  ports: GatewayDependencies,
): Promise<BackgroundResponse> {
  const { dialect, clientRequest, caller, exchange } = request
  const identity = request.identity ?? createAnswerIdentity(ports)
  const { turnId } = identity
  const { events, response } = freeIfNotPrepared(freePlace, () =>
    createOpeningEvents(dialect, { clientRequest, ...identity, isStored: true }),
  )
  const slot = activeRuns.openSlot(turnId)
  const storeTurn = async (turn: NewTurn): Promise<void> => {
    await ports.runs.openRun({ ...turn, background: true }, events)
    // Not awaited, because the run does not depend on this write: if it fails, the status stays `queued`
    // until the run ends.
    ports.runs.startRun({ turnId, ...caller, replicaId: slot.replicaId }).catch(() => undefined)
  }
  const start = { isStored: false, firstEvent: events.last + 1, openingEvents: null, storeTurn }
  const { whenStored, whenOver, log } = startRun({ ...request, ...identity, ...start }, slot, ports)
  void whenOver.then(freePlace)
  exchange.waitUntil(whenOver)
  await whenStored
  return { turnId, response, liveLog: log }
}
