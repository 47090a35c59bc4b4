/** Renders a complete answer again, as a stream or as JSON, for a request with the same `Idempotency-Key`. */
import { removeGatewayToolItems } from '../../core/items/gateway-tool-items.ts'
import type { JsonObject } from '../../core/json/json.ts'
import type { AnswerContext } from '../../core/ports/dialect-interface.ts'
import type { StreamEvent } from '../../core/stream-event.ts'
import { formatSseMessages } from '../../core/stream/sse.ts'
import { isStorageRequested } from '../../gateway/history/memory-thread-and-storage-permission.ts'
import type { RunRequest } from '../start-run.ts'
import type { EndedAnswer } from './first-requests.ts'
import {
  createAnswerNotAvailableError,
  createStoredFailureError,
  explainStoredFailure,
} from './idempotency-errors.ts'

/** Renders the body of a non-streamed answer. Throws a GatewayError if the answer has failed. */
export function renderBodyAgain(request: RunRequest, answer: EndedAnswer): JsonObject {
  requireOneChoice(request)
  const { outcome, endedAtMs } = answer
  if (outcome.failure !== null) throw createStoredFailureError(outcome.failure)
  const visible = { ...outcome, items: removeGatewayToolItems(outcome.items) }
  return request.dialect.renderBody(visible, createAnswerContext(request, answer), endedAtMs)
}

/** Renders the complete stream of an answer. */
export function renderStreamAgain(request: RunRequest, answer: EndedAnswer): string {
  requireOneChoice(request)
  const { outcome } = answer
  const failure = outcome.failure === null ? null : explainStoredFailure(outcome.failure)
  const items = removeGatewayToolItems(outcome.items)
  return renderStream(request, { ...answer, outcome: { ...outcome, items, failure } })
}

/** Throws an error if `n` is not 1: the database has only the first of several answers. */
function requireOneChoice({ clientRequest }: RunRequest): void {
  if ((clientRequest.params.extra['n'] ?? 1) !== 1) throw createAnswerNotAvailableError()
}

export function renderStream(request: RunRequest, answer: EndedAnswer): string {
  const { outcome, endedAtMs } = answer
  const { items, finish, failure, usage, model } = outcome
  const events: readonly StreamEvent[] = [
    { type: 'answer-started', upstreamId: null, model },
    ...items.flatMap((item, index): readonly StreamEvent[] => [
      { type: 'item-started', index, item },
      { type: 'item-ended', index, item },
    ]),
    ...(failure === null ? [] : [{ type: 'answer-failed', failure, usage } as const]),
    ...(finish === null ? [] : [{ type: 'answer-ended', finish, usage } as const]),
  ]
  const renderer = request.dialect.createRenderer(createAnswerContext(request, answer))
  const messages = events.flatMap((event) => renderer.push(event))
  return formatSseMessages([...messages, ...renderer.end(outcome, endedAtMs)])
}

function createAnswerContext(
  { clientRequest }: RunRequest,
  { turnId, createdAtMs, lostFields = [] }: EndedAnswer,
): AnswerContext {
  const isStored = isStorageRequested(clientRequest)
  return { clientRequest, turnId, createdAtMs, isStored, lostFields }
}
