/**
 * Answers a request as any other, but with a stream that can be taken up again where it was cut.
 * For that it goes on when its client leaves, from the moment on in which the client knows its id.
 */
import { createAnswerIdentity } from '../gateway/answer-request.ts'
import { queryStoreOrThrow } from '../store/query-store-or-throw.ts'
import type { NewTurn } from '../store/turns/turn-store-interface.ts'
import type { GatewayDependencies } from '../gateway/dependencies-interface.ts'
import { streamRunLog } from './follow/follow-run.ts'
import type { ActiveRuns } from './active-runs-and-lease.ts'
import type { BackgroundAnswerRequest } from './background-runs.ts'
import { startRun } from './generate-into-run-log.ts'

/** The header that asks for it, with the value `true`. */
export const RESUMABLE_HEADER = 'x-backstory-resumable'

export async function streamResumableResponse(
  asked: BackgroundAnswerRequest,
  home: ActiveRuns,
  world: GatewayDependencies,
): Promise<Response> {
  const { caller, exchange } = asked
  const named = createAnswerIdentity(world)
  const { turnId } = named
  const room = await queryStoreOrThrow(() => home.admit(turnId))
  const open = (turn: NewTurn): Promise<void> => world.runs.openRun(turn, null)
  const run = { ...asked, ...named, logged: null, opensWith: 0, open }
  const { opened, begun, over, log, takeBack } = startRun(run, room, world)
  exchange.waitUntil(over)
  let isTold = false
  exchange.onDisconnect(() => {
    if (!isTold) takeBack()
  })
  const [{ headers }] = await Promise.all([begun, opened])
  isTold = true
  const following = {
    turnId,
    whose: caller,
    from: 0,
    live: log,
    headers: Object.fromEntries(headers),
  }
  return streamRunLog(following, exchange, home, world)
}
