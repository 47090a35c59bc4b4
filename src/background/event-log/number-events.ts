/**
 * Numbers the events of an answer without gaps (`"sequence_number":7`). Rendered events have the right
 * numbers already and are forwarded unchanged. Events that pass through from an upstream are renumbered.
 * SSE comments and `[DONE]` are removed.
 *
 * A background response writes its opening events to the log before the answer starts. The opening events
 * of the answer are then removed.
 */
import { tryParseJsonObject } from '../../core/json/json.ts'
import { formatSseMessage, createSseDecoder, type SseMessage } from '../../core/stream/sse.ts'
import { OPENING_EVENT_TYPES } from './opening-events.ts'

export function createEventNumbering(firstNumber: number) {
  const opening = createOpeningFilter(firstNumber > 0)
  const sse = createSseDecoder()
  let next = firstNumber

  const renumber = (bytes: Uint8Array): string => {
    let text = ''
    for (const message of sse.push(bytes)) {
      if (message.data === '[DONE]' || opening.has(message)) continue
      const numbered = setEventNumber(message, next)
      if (numbered === null) continue
      text += formatSseMessage(numbered)
      next += 1
    }
    return text
  }
  return {
    /** Returns the events of a text with their numbers. The text must end with a complete event. */
    push(written: string | Uint8Array): string {
      if (typeof written !== 'string') return renumber(written)
      const text = written.endsWith(DONE_MESSAGE) ? written.slice(0, -DONE_MESSAGE.length) : written
      const count = opening.isOver() ? countNumbered(text, next) : null
      if (count === null) return renumber(utf8.encode(text))
      next += count
      return text
    },
    /** Returns the number of the next event. */
    nextNumber: () => next,
  }
}

export const DONE_MESSAGE = 'data: [DONE]\n\n'

const utf8 = new TextEncoder()

/**
 * Returns the number of events in a text if they are numbered from `first` on; null if they have to be
 * numbered.
 */
function countNumbered(text: string, first: number): number | null {
  let count = 0
  for (let start = 0; start < text.length; count += 1) {
    const end = text.indexOf('\n\n', start) + 2
    if (end === 1 || !text.endsWith(`,"sequence_number":${first + count}}\n\n`, end)) return null
    start = end
  }
  return count
}

/**
 * Recognizes the opening events at the start of an answer by their types. They cannot be counted, because
 * some upstreams omit `response.queued`.
 */
function createOpeningFilter(isEnabled: boolean) {
  let isOver = !isEnabled
  return {
    isOver: () => isOver,
    has(message: SseMessage): boolean {
      if (isOver) return false
      const isOpening = OPENING_EVENT_TYPES.has(
        message.event ?? tryParseJsonObject(message.data)?.['type'],
      )
      isOver = !isOpening
      return isOpening
    },
  }
}

const NUMBER = /"sequence_number":\s*\d+/g

/**
 * Returns the event with its `sequence_number` set to `number`; null if its data is no JSON object. The
 * event is then removed.
 */
function setEventNumber(message: SseMessage, number: number): SseMessage | null {
  const { event, data } = message
  const matches = data.match(NUMBER)
  if (matches?.length === 1 && event !== undefined) {
    return { event, data: data.replace(NUMBER, `"sequence_number":${number}`) }
  }
  const json = tryParseJsonObject(data)
  if (json === null) return null
  const { type } = json
  return {
    event: event ?? (typeof type === 'string' ? type : undefined),
    data: JSON.stringify({ ...json, sequence_number: number }),
  }
}
