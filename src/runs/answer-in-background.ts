/**
 * Answers a request that asks for `background`: at once, with a response that waits its turn, or
 * with a stream that begins so. Everything after that happens whether or not anybody is there.
 */
import { newlyNamed } from '../gateway.ts'
import { askMemory } from '../history/ask-memory.ts'
import type { NewTurn } from '../store/store.ts'
import type { World } from '../world.ts'
import { streamLog } from './follow-run.ts'
import type { Home } from './home.ts'
import { opening } from './opening.ts'
import type { AnswerRequest } from './runs.ts'
import { startRun } from './start-run.ts'

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
