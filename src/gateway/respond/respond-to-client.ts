/** Writes an answer to its client, as a stream or as one JSON body, and closes its stored turn. */
import type { Caller } from '../../core/client/caller.ts'
import { GatewayError, type ErrorCode } from '../../core/errors/gateway-error.ts'
import type { Outcome } from '../../core/collect-answer-outcome.ts'
import type { Failure } from '../../core/stream-event.ts'
import {
  runTasksAfterAnswer,
  type AfterAnswerTask,
} from '../after-answer/run-tasks-after-answer.ts'
import type { Ports } from '../dependencies-interface.ts'
import type { HttpExchange } from '../http-exchange-interface.ts'
import type { PreparedRequest } from '../prompt/planned-request.ts'
import { collectAnswerMetadata } from '../record/collect-answer-metadata.ts'
import { readBufferedAnswer } from '../send/read-buffered-answer.ts'
import type { UpstreamAnswer } from '../send/upstream-answer-types.ts'
import {
  buildResponseHeaders,
  createResponseWriterFromEvents,
  createResponseWriter,
  renderResponseBody,
  type ResponseParts,
} from './create-response-writer.ts'
import { filterEventList } from './event-filters/apply-event-filters.ts'
import { streamAnswerToClient } from './stream-answer-to-client.ts'

export interface AnswerToWrite extends ResponseParts {
  readonly answer: UpstreamAnswer
  readonly caller: Caller
  readonly exchange: HttpExchange
  readonly afterAnswer: readonly AfterAnswerTask[]
  /** Called with the outcome once the turn is closed; null if no other request waits for it. */
  readonly onSettled: ((outcome: Outcome, lostFields: readonly string[]) => void) | null
}

/** Returns the response. Returns an error instead if a non-streamed answer failed. */
export async function respondToClient(
  writing: AnswerToWrite,
  ports: Ports<'log' | 'nowMs' | 'settings'>,
): Promise<Response | GatewayError> {
  return writing.answerContext.clientRequest.stream
    ? streamAnswer(writing, ports)
    : sendCompleteAnswer(writing, ports)
}

export const SSE_HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache',
  'x-accel-buffering': 'no',
}

function streamAnswer(
  writing: AnswerToWrite,
  ports: Ports<'log' | 'nowMs' | 'settings'>,
): Response {
  const { answer, exchange } = writing
  const headers = { ...SSE_HEADERS, ...buildResponseHeaders(writing) }
  return exchange.startStream(200, headers, (client) => {
    const target = {
      client,
      settle(outcome: Outcome, ending: 'finished' | 'cancelled') {
        const settled = settleAnswer(outcome, ending, writing, ports)
        exchange.waitUntil(settled)
        return settled
      },
      runLater: exchange.runLater,
      heartbeatMs: ports.settings.HEARTBEAT_SECONDS * 1000,
      log: ports.log,
    }
    if ('events' in answer) {
      const writer = createResponseWriterFromEvents(answer.events, writing, ports)
      return streamAnswerToClient({ ...target, source: answer.events, writer })
    }
    const writer = createResponseWriter(writing, ports)
    streamAnswerToClient({ ...target, source: answer.body, writer })
  })
}

async function sendCompleteAnswer(
  writing: AnswerToWrite,
  ports: Ports<'log' | 'nowMs'>,
): Promise<Response | GatewayError> {
  const { answer, eventFilters, fold } = writing
  const { events, jsonBody } = await readBufferedAnswer(answer)
  for (const event of filterEventList(events, eventFilters)) fold.push(event)
  const outcome = await settleAnswer(fold.currentOutcome(), 'finished', writing, ports)
  if (outcome.failure !== null) return toError(outcome.failure, answer)
  const headers = { 'content-type': 'application/json', ...buildResponseHeaders(writing) }
  return new Response(renderResponseBody(writing, outcome, jsonBody, ports), { headers })
}

/**
 * Closes the turn and starts the after-answer tasks. Resolves to the outcome to render: a failure if the
 * turn could not be stored.
 */
function settleAnswer(
  outcome: Outcome,
  ending: 'finished' | 'cancelled',
  { answer, answerContext, recorder, caller, exchange, afterAnswer, onSettled }: AnswerToWrite,
  ports: Ports<'log'>,
): Promise<Outcome> {
  const { prepared, listSentRequests = () => [prepared] } = answer
  if (ending === 'finished') logUpstreamFailure(outcome, prepared, ports)
  const metadata = collectAnswerMetadata(prepared, outcome, answer.listSentRequests?.())
  const settled = recorder.settle(outcome, ending, metadata)
  const { lostFields = [] } = answerContext
  if (onSettled !== null)
    void settled.catch(() => outcome).then((final) => onSettled(final, lostFields))
  const answered = { prepared, listSentRequests, caller, turnId: answerContext.turnId, recorder }
  runTasksAfterAnswer(afterAnswer, answered, settled, exchange.waitUntil)
  return settled
}

/**
 * Logs that an upstream failed in the middle of its answer. Failures of the gateway itself are not logged
 * here.
 */
export function logUpstreamFailure(
  { failure }: Outcome,
  { account }: Pick<PreparedRequest, 'account'>,
  { log }: Ports<'log'>,
): void {
  if (failure === null || GATEWAY_FAILURES.has(failure.code)) return
  const { code, message: why } = failure
  log('warn', 'answer-failed', { upstream: account.name, code, why })
}

const GATEWAY_FAILURES: ReadonlySet<string | null> = new Set<ErrorCode>([
  'gateway_stopped',
  'internal_error',
  'store_unavailable',
])

/**
 * Converts a failure to an error. If the upstream rejected a tool round, returns that error, because it has
 * the upstream's headers, e.g. `retry-after`.
 */
function toError(failure: Failure, { getRejection }: UpstreamAnswer): GatewayError {
  const rejection = getRejection?.() ?? null
  return rejection?.failure === failure ? rejection : new GatewayError(failure)
}
