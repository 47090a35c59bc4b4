/**
 * Answers a request with `background: true` at once: with a queued response, or with a stream that
 * starts with one. The run continues independently of the client.
 */
import { createAnswerIdentity } from '../gateway/answer-request.ts'
import type { GatewayDependencies } from '../gateway/dependencies-interface.ts'
import { queryStoreOrThrow } from '../store/query-store-or-throw.ts'
import type { NewTurn } from '../store/turns/turn-store-interface.ts'
import type { ActiveRuns } from './active-runs-and-lease.ts'
import type { BackgroundAnswerRequest } from './background-answer-request.ts'
import { createOpeningEvents } from './event-log/opening-events.ts'
import { streamRunLog } from './follow/follow-run.ts'
import { startRun } from './generate-into-run-log.ts'

export async function startBackgroundResponse(
  request: BackgroundAnswerRequest,
  home: ActiveRuns,
  ports: GatewayDependencies,
): Promise<Response> {
  const { clientRequest, caller, exchange } = request
  const { tenant, user } = caller
  const identity = createAnswerIdentity(ports)
  const { turnId } = identity
  const { events, response } = createOpeningEvents(request.dialect, {
    clientRequest,
    ...identity,
    stored: true,
  })
  const slot = await queryStoreOrThrow(() => home.admit(turnId))
  const open = async (turn: NewTurn): Promise<void> => {
    await ports.runs.openRun({ ...turn, background: true }, events)
    // Not awaited. If this write is lost, the status changes when the run ends.
    ports.runs.startRun({ turnId, tenant, user, owner: slot.owner }).catch(() => undefined)
  }
  const run = { ...request, ...identity, logged: null, opensWith: events.last + 1, open }
  const { opened, over, log } = startRun(run, slot, ports)
  exchange.waitUntil(over)
  await opened
  if (clientRequest.stream)
    return streamRunLog({ turnId, caller, from: 0, live: log }, exchange, home, ports)
  return Response.json(response, { headers: { 'x-request-id': `req_${turnId}` } })
}
