/**
 * Answers a request with the answer to an earlier request that has the same `Idempotency-Key`, as a stream or as JSON.
 * A stream starts when the answer is found, so that it may begin with an error status. If that takes longer than the
 * interval of heartbeats, the stream starts with heartbeats, and its events follow.
 */
import { convertUnexpectedError } from '../../core/errors/convert-unexpected-error.ts'
import { TIMED_OUT, waitWithTimeout } from '../../core/async/wait-with-timeout.ts'
import { createAnswerIdentity } from '../../gateway/answer-request.ts'
import type { GatewayDependencies } from '../../gateway/dependencies-interface.ts'
import type { ClientStream } from '../../gateway/http-exchange-interface.ts'
import { createHeartbeat } from '../../gateway/respond/create-heartbeat.ts'
import { SSE_HEADERS } from '../../gateway/respond/respond-to-client.ts'
import type { ActiveRuns } from '../active-runs-and-lease.ts'
import { streamRunLog } from '../follow/follow-run.ts'
import { writeLogToClient } from '../follow/write-log-to-client.ts'
import type { RunWithReplica } from '../../store/background-runs/run-store-interface.ts'
import { recoverOrphanedRun } from '../recover-orphaned-run.ts'
import type { BackgroundAnswerRequest } from '../start-background-response.ts'
import type { StoredAnswer } from './find-stored-answer.ts'
import { createFirstRequestRejectedError } from './idempotency-errors.ts'
import { renderBodyAgain, renderStream, renderStreamAgain } from './repeat-answer.ts'

/**
 * `whenFound` resolves to null if the earlier request was rejected. Then the result is null too, and the request has
 * to be sent itself, unless its stream has started already: that stream ends as failed.
 */
export async function joinAnswer(
  request: BackgroundAnswerRequest,
  whenFound: Promise<StoredAnswer | null>,
  activeRuns: ActiveRuns,
  ports: GatewayDependencies,
): Promise<Response | null> {
  const { clientRequest, caller, exchange } = request
  const heartbeatMs = ports.settings.HEARTBEAT_SECONDS * 1000
  const answer = await (clientRequest.stream ? waitWithTimeout(whenFound, heartbeatMs) : whenFound)
  if (answer === null) return null
  if (answer === TIMED_OUT)
    return exchange.startStream(200, SSE_HEADERS, (client) => {
      void writeWhenFound(request, whenFound, client, activeRuns, ports)
    })
  const { turnId } = answer
  if ('isLogged' in answer) {
    const liveLog = activeRuns.findLog(turnId)
    return streamRunLog({ turnId, caller, firstEvent: 0, liveLog }, exchange, activeRuns, ports)
  }
  if ('response' in answer) return Response.json(answer.response)
  if (!clientRequest.stream) return Response.json(renderBodyAgain(request, answer))
  const text = renderStreamAgain(request, answer)
  return exchange.startStream(200, SSE_HEADERS, ({ end }) => end(text))
}

/** Writes heartbeats until the answer is found, and then the answer. */
async function writeWhenFound(
  request: BackgroundAnswerRequest,
  whenFound: Promise<StoredAnswer | null>,
  client: ClientStream,
  activeRuns: ActiveRuns,
  ports: GatewayDependencies,
): Promise<void> {
  const { caller } = request
  const heartbeat = createHeartbeat(client, ports.settings.HEARTBEAT_SECONDS * 1000)
  try {
    const answer = await whenFound
    heartbeat.stop()
    if (answer === null) throw createFirstRequestRejectedError()
    // Only a JSON request is answered with a response object.
    if ('response' in answer) return client.abort()
    if (!('isLogged' in answer)) return client.end(renderStreamAgain(request, answer))
    const { turnId } = answer
    const recover = (run: RunWithReplica) => recoverOrphanedRun(run, activeRuns, ports)
    const liveLog = activeRuns.findLog(turnId)
    const whenStarted = activeRuns.queue?.whenStarted({ turnId, ...caller }) ?? null
    const follower = { turnId, caller, firstEvent: 0, liveLog, whenStarted, recover }
    await writeLogToClient(follower, client, ports)
  } catch (error) {
    heartbeat.stop()
    const { failure } = convertUnexpectedError(error, ports.log)
    const outcome = { items: [], finish: null, failure, usage: null, upstreamId: null, model: null }
    const endedAtMs = ports.nowMs()
    const identity = request.identity ?? createAnswerIdentity(ports)
    client.end(renderStream(request, { ...identity, outcome, endedAtMs }))
  }
}
