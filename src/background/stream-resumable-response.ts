/**
 * Answers a request with a stream that the client can resume after a disconnect. The run is cancelled if
 * the client disconnects before it receives the response id; after that, it continues.
 */
import type { Caller } from '../core/client/caller.ts'
import { GatewayError } from '../core/errors/gateway-error.ts'
import { createAnswerIdentity } from '../gateway/answer-request.ts'
import type { GatewayDependencies } from '../gateway/dependencies-interface.ts'
import type { NewTurn } from '../store/turns/turn-store-interface.ts'
import type { ActiveRuns } from './active-runs-and-lease.ts'
import type { BackgroundAnswerRequest } from './start-background-response.ts'
import { streamRunLog } from './follow/follow-run.ts'
import { startRun } from './start-run.ts'

/** Request header; its value `true` requests a stream that can be resumed. */
export const RESUMABLE_HEADER = 'x-backstory-resumable'

export async function streamResumableResponse(
  request: BackgroundAnswerRequest,
  activeRuns: ActiveRuns,
  ports: GatewayDependencies,
): Promise<Response> {
  const { caller, exchange } = request
  const identity = request.identity ?? createAnswerIdentity(ports)
  const { turnId } = identity
  const free = takePlace(caller, activeRuns)
  const slot = activeRuns.openSlot(turnId)
  const storeTurn = (turn: NewTurn) => ports.runs.openRun(turn, null)
  const start = { isStored: false, firstEvent: 0, openingEvents: null, storeTurn }
  const run = { ...request, ...identity, ...start }
  const { whenStored, whenAnswering, whenOver, log, cancelUnannounced } = startRun(run, slot, ports)
  void whenOver.then(free)
  exchange.waitUntil(whenOver)
  let isIdSent = false
  exchange.onDisconnect(() => {
    if (!isIdSent) cancelUnannounced()
  })
  const [{ headers }] = await Promise.all([whenAnswering, whenStored])
  isIdSent = true
  const answerHeaders = Object.fromEntries(headers)
  return streamRunLog(
    { turnId, caller, firstEvent: 0, liveLog: log, headers: answerHeaders },
    exchange,
    activeRuns,
    ports,
  )
}

function takePlace({ tenant }: Caller, { resumablePlaces }: ActiveRuns): () => void {
  if (resumablePlaces === null) return () => undefined
  const free = resumablePlaces.take(tenant)
  if (free !== null) return free
  throw new GatewayError(
    'rate_limit_exceeded',
    'Too many streams that can continue without their client are in progress. Wait until some have ended, send the request without the header x-backstory-resumable or Idempotency-Key, or raise BACKGROUND_RUNS_PER_KEY or BACKGROUND_RUNS.',
    { headers: { 'retry-after': '5' } },
  )
}
