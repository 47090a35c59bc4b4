/**
 * Answers a request with `background: true` immediately: with a response object of the status `queued`, or
 * with a stream that begins with such an object. The run continues if the client disconnects.
 */
import { createAnswerIdentity, type AnswerIdentity } from '../gateway/answer-request.ts'
import type { GatewayDependencies } from '../gateway/dependencies-interface.ts'
import { queryStoreOrThrow } from '../store/query-store-or-throw.ts'
import type { NewTurn } from '../store/turns/turn-store-interface.ts'
import type { ActiveRuns } from './active-runs-and-lease.ts'
import { createOpeningEvents } from './event-log/opening-events.ts'
import { streamRunLog } from './follow/follow-run.ts'
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
  const { tenant, user } = caller
  const identity = request.identity ?? createAnswerIdentity(ports)
  const { turnId } = identity
  const { events, response } = createOpeningEvents(request.dialect, {
    clientRequest,
    ...identity,
    isStored: true,
  })
  const slot = await queryStoreOrThrow(() => activeRuns.openSlot(turnId))
  const storeTurn = async (turn: NewTurn): Promise<void> => {
    await ports.runs.openRun({ ...turn, background: true }, events)
    // Not awaited, because the run does not depend on this write: if it fails, the status stays `queued`
    // until the run ends.
    ports.runs.startRun({ turnId, tenant, user, replicaId: slot.replicaId }).catch(() => undefined)
  }
  const run = { ...request, ...identity, isStored: false, firstEvent: events.last + 1, storeTurn }
  const { whenStored, whenOver, log } = startRun(run, slot, ports)
  exchange.waitUntil(whenOver)
  await whenStored
  if (clientRequest.stream)
    return streamRunLog(
      { turnId, caller, firstEvent: 0, liveLog: log },
      exchange,
      activeRuns,
      ports,
    )
  return Response.json(response, { headers: { 'x-request-id': `req_${turnId}` } })
}
