/**
 * Creates the opening events of a background response: `response.created`, `response.queued` and
 * `response.in_progress`. The client receives them before an upstream is called.
 */
import type { JsonObject } from '../../core/json/json.ts'
import type { AnswerContext, Dialect } from '../../core/ports/dialect-interface.ts'
import type { EventGroup } from '../../store/background-runs/run-store-interface.ts'
import { formatSseMessages } from '../../core/stream/sse.ts'

/** Creates the opening events, and the response object in them, which has `status: "queued"`. */
export function createOpeningEvents(dialect: Dialect, context: AnswerContext) {
  const started = { type: 'answer-started', upstreamId: null, model: null } as const
  const messages = dialect.createRenderer(context).push(started)
  const { response } = JSON.parse(messages[0]?.data ?? '{}') as { readonly response: JsonObject }
  return {
    events: { first: 0, last: messages.length - 1, text: formatSseMessages(messages) },
    response,
  }
}

/** True if the log has only opening events, i.e. no output yet. */
export function hasOnlyOpeningEvents(log: readonly EventGroup[]): boolean {
  const lines = log.flatMap(({ text }) => text.split('\n'))
  return lines.every(
    (line) => !line.startsWith('event: ') || OPENING_EVENT_TYPES.has(line.slice(7)),
  )
}

export const OPENING_EVENT_TYPES: ReadonlySet<unknown> = new Set([
  'response.created',
  'response.queued',
  'response.in_progress',
])
