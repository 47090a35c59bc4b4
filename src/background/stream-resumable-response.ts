/**
 * Answers a request with a stream that the client can resume after a disconnect. The run therefore
 * continues without the client once the client knows its id.
 */
import { createAnswerIdentity } from '../gateway/answer-request.ts'
import type { GatewayDependencies } from '../gateway/dependencies-interface.ts'
import { queryStoreOrThrow } from '../store/query-store-or-throw.ts'
import type { NewTurn } from '../store/turns/turn-store-interface.ts'
import type { ActiveRuns } from './active-runs-and-lease.ts'
import type { BackgroundAnswerRequest } from './background-answer-request.ts'
import { streamRunLog } from './follow/follow-run.ts'
import { startRun } from './generate-into-run-log.ts'

/** Request header that enables this with the value `true`. */
export const RESUMABLE_HEADER = 'x-backstory-resumable'

export async function streamResumableResponse(
  request: BackgroundAnswerRequest,
  home: ActiveRuns,
  ports: GatewayDependencies,
): Promise<Response> {
  const { caller, exchange } = request
  const identity = createAnswerIdentity(ports)
  const { turnId } = identity
  const slot = await queryStoreOrThrow(() => home.admit(turnId))
  const open = (turn: NewTurn): Promise<void> => ports.runs.openRun(turn, null)
  const run = { ...request, ...identity, logged: null, opensWith: 0, open }
  const { opened, begun, over, log, takeBack } = startRun(run, slot, ports)
  exchange.waitUntil(over)
  let isIdSent = false
  exchange.onDisconnect(() => {
    if (!isIdSent) takeBack()
  })
  const [{ headers }] = await Promise.all([begun, opened])
  isIdSent = true
  const follower = {
    turnId,
    caller,
    from: 0,
    live: log,
    headers: Object.fromEntries(headers),
  }
  return streamRunLog(follower, exchange, home, ports)
}
