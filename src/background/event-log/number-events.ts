/**
 * Numbers the events of an answer (`"sequence_number":7`) from `first` on without gaps. Events of the
 * gateway's renderer already have these numbers and are forwarded unchanged; an upstream's events are
 * numbered again. Removes comments and `[DONE]`.
 *
 * If the log already has the opening events (`first` > 0), they are removed as well.
 */
import { tryParseJsonObject } from '../../core/json/json.ts'
import { formatSseMessage, createSseDecoder } from '../../core/stream/sse.ts'
import type { SseMessage } from '../../core/stream/stage.ts'
import { OPENING_EVENT_TYPES } from './opening-events.ts'

export interface EventNumbering {
  /** Returns the events of the text with their numbers. The text must end with a complete event. */
  readonly push: (text: string | Uint8Array) => string
  /** Returns the number of the next event. */
  readonly next: () => number
}

export function numberEvents(first: number): EventNumbering {
  const opening = createOpeningFilter(first > 0)
  const sse = createSseDecoder()
  let next = first

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
    push(written) {
      if (typeof written !== 'string') return renumber(written)
      const text = written.endsWith(DONE_MESSAGE) ? written.slice(0, -DONE_MESSAGE.length) : written
      const count = opening.isOver() ? countNumbered(text, next) : null
      if (count === null) return renumber(utf8.encode(text))
      next += count
      return text
    },
    next: () => next,
  }
}

export const DONE_MESSAGE = 'data: [DONE]\n\n'

const utf8 = new TextEncoder()

/** Returns the number of events if the gateway numbered them from `first` on, otherwise null. */
function countNumbered(text: string, first: number): number | null {
  let count = 0
  for (let start = 0; start < text.length; count += 1) {
    const end = text.indexOf('\n\n', start) + 2
    if (end === 1 || !text.endsWith(`,"sequence_number":${first + count}}\n\n`, end)) return null
    start = end
  }
  return count
}

/** Recognizes the opening messages at the start of a response; an upstream may send only some of them. */
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

/** Returns null for a message that is no event. */
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
