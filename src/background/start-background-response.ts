/**
 * Answers a request that asks for `background`: at once, with a response that waits its turn, or
 * with a stream that begins so. Everything after that happens whether or not anybody is there.
 */
import { newlyNamed } from '../gateway/answer-request.ts'
import { askMemory } from '../store/query-store-or-throw.ts'
import type { NewTurn } from '../store/turns/turn-store-interface.ts'
import type { World } from '../gateway/dependencies-interface.ts'
import { streamLog } from './follow/follow-run.ts'
import type { Home } from './active-runs-and-lease.ts'
import { opening } from './event-log/opening-events.ts'
import type { AnswerRequest } from './background-runs.ts'
import { startRun } from './generate-into-run-log.ts'

export async function answerInBackground(
  asked: AnswerRequest,
  home: Home,
  world: World,
): Promise<Response> {
  const { inbound, caller, exchange } = asked
  const { tenant, user } = caller
  const named = newlyNamed(world)
  const { turnId } = named
  const { events, response } = opening(asked.dialect, { inbound, ...named, stored: true })
  const room = await askMemory(() => home.admit(turnId))
  const open = async (turn: NewTurn): Promise<void> => {
    await world.runs.openRun({ ...turn, background: true }, events)
    // It waits for nothing. If this is not told, it shows when the run ends.
    world.runs.startRun({ turnId, tenant, user, owner: room.owner }).catch(() => undefined)
  }
  const run = { ...asked, ...named, logged: null, opensWith: events.last + 1, open }
  const { opened, over, log } = startRun(run, room, world)
  exchange.waitUntil(over)
  await opened
  if (inbound.stream)
    return streamLog({ turnId, whose: caller, from: 0, live: log }, exchange, home, world)
  return Response.json(response, { headers: { 'x-request-id': `req_${turnId}` } })
}
