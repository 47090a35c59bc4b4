/**
 * Creates the opening events of a background response: `response.created`, `response.queued` and
 * `response.in_progress`. The client receives them before an upstream is called.
 */
import type { JsonObject } from '../../core/json/json.ts'
import type { AnswerContext, Dialect } from '../../core/ports/dialect-interface.ts'
import type { EventGroup } from '../../store/background-runs/run-store-interface.ts'
import { formatSseMessages, type SseMessage } from '../../core/stream/sse.ts'

/**
 * Creates the opening events, and the response object in them, which has `status: "queued"`. A queued run
 * gets only the first events, up to `response.queued`; the others follow when it starts.
 */
export function createOpeningEvents(dialect: Dialect, context: AnswerContext) {
  const start = { type: 'answer-started', upstreamId: null, model: null } as const
  const messages = dialect.createRenderer(context).push(start)
  const { response } = JSON.parse(messages[0]?.data ?? '{}') as { readonly response: JsonObject }
  const started = messages.findIndex(({ event }) => event === 'response.in_progress')
  return {
    events: groupEvents(messages, 0, messages.length),
    queuedEvents: groupEvents(messages, 0, started),
    startedEvents: groupEvents(messages, started, messages.length),
    response,
  }
}

function groupEvents(messages: readonly SseMessage[], start: number, end: number): EventGroup {
  return { first: start, last: end - 1, text: formatSseMessages(messages.slice(start, end)) }
}

/** True if the log has only opening events, i.e. no output yet. */
export function hasOnlyOpeningEvents(log: readonly EventGroup[]): boolean {
  const lines = log.flatMap(({ text }) => text.split('\n'))
  return lines.every(
    (line) => !line.startsWith('event: ') || OPENING_EVENT_TYPES.has(line.slice(7)),
  )
}

/** False for the log of a run that is or was queued and has not been started. */
export function hasStarted(log: readonly EventGroup[]): boolean {
  return log.some(({ text }) => text.includes('event: response.in_progress\n'))
}

export const OPENING_EVENT_TYPES: ReadonlySet<unknown> = new Set([
  'response.created',
  'response.queued',
  'response.in_progress',
])
