/**
 * Answers a request that asks for `background`: at once, with a response that waits its turn, or
 * with a stream that begins so. Everything after that happens whether or not anybody is there.
 */
import { createAnswerIdentity } from '../gateway/answer-request.ts'
import { queryStoreOrThrow } from '../store/query-store-or-throw.ts'
import type { NewTurn } from '../store/turns/turn-store-interface.ts'
import type { GatewayDependencies } from '../gateway/dependencies-interface.ts'
import { streamRunLog } from './follow/follow-run.ts'
import type { ActiveRuns } from './active-runs-and-lease.ts'
import { createOpeningEvents } from './event-log/opening-events.ts'
import type { BackgroundAnswerRequest } from './background-runs.ts'
import { startRun } from './generate-into-run-log.ts'

export async function startBackgroundResponse(
  asked: BackgroundAnswerRequest,
  home: ActiveRuns,
  world: GatewayDependencies,
): Promise<Response> {
  const { clientRequest, caller, exchange } = asked
  const { tenant, user } = caller
  const named = createAnswerIdentity(world)
  const { turnId } = named
  const { events, response } = createOpeningEvents(asked.dialect, {
    clientRequest,
    ...named,
    stored: true,
  })
  const room = await queryStoreOrThrow(() => home.admit(turnId))
  const open = async (turn: NewTurn): Promise<void> => {
    await world.runs.openRun({ ...turn, background: true }, events)
    // It waits for nothing. If this is not told, it shows when the run ends.
    world.runs.startRun({ turnId, tenant, user, owner: room.owner }).catch(() => undefined)
  }
  const run = { ...asked, ...named, logged: null, opensWith: events.last + 1, open }
  const { opened, over, log } = startRun(run, room, world)
  exchange.waitUntil(over)
  await opened
  if (clientRequest.stream)
    return streamRunLog({ turnId, whose: caller, from: 0, live: log }, exchange, home, world)
  return Response.json(response, { headers: { 'x-request-id': `req_${turnId}` } })
}
