/**
 * Numbers the events that a relay writes, from `first` on and without a gap. What is told by our own
 * renderer has these numbers already and goes through as it is; what an upstream told in the same
 * language is given them. Comments and `[DONE]` are no events, and are left out.
 *
 * If the opening of a response has been told before (`first` is not 0), it is not told again.
 */
import { tryParseJsonObject } from '../../core/json/json.ts'
import { formatSseMessage, createSseDecoder } from '../../core/stream/sse.ts'
import type { SseMessage } from '../../core/stream/stage.ts'
import { OPENING_EVENT_TYPES } from './opening-events.ts'

export interface EventNumbering {
  /** Whole events in, whole events out. */
  readonly push: (text: string | Uint8Array) => string
  /** The number of the next event. */
  readonly next: () => number
}

export function numberEvents(first: number): EventNumbering {
  const opening = openings(first > 0)
  const sse = createSseDecoder()
  let next = first

  const anew = (bytes: Uint8Array): string => {
    let text = ''
    for (const message of sse.push(bytes)) {
      if (message.data === '[DONE]' || opening.has(message)) continue
      const numbered = numberedMessage(message, next)
      if (numbered === null) continue
      text += formatSseMessage(numbered)
      next += 1
    }
    return text
  }
  return {
    push(written) {
      if (typeof written !== 'string') return anew(written)
      const text = written.endsWith(DONE_MESSAGE) ? written.slice(0, -DONE_MESSAGE.length) : written
      const count = opening.areOver() ? countNumbered(text, next) : null
      if (count === null) return anew(utf8.encode(text))
      next += count
      return text
    },
    next: () => next,
  }
}

export const DONE_MESSAGE = 'data: [DONE]\n\n'

const utf8 = new TextEncoder()

/** How many events there are, if they are numbered from `first` on as our own writer does it. */
function countNumbered(text: string, first: number): number | null {
  let count = 0
  for (let at = 0; at < text.length; count += 1) {
    const end = text.indexOf('\n\n', at) + 2
    if (end === 1 || !text.endsWith(`,"sequence_number":${first + count}}\n\n`, end)) return null
    at = end
  }
  return count
}

/** The messages that open a response stand at its beginning; of an upstream's, not all are sent. */
function openings(wereTold: boolean) {
  let areOver = !wereTold
  return {
    areOver: () => areOver,
    has(message: SseMessage): boolean {
      if (areOver) return false
      const isOne = OPENING_EVENT_TYPES.has(
        message.event ?? tryParseJsonObject(message.data)?.['type'],
      )
      areOver = !isOne
      return isOne
    },
  }
}

const NUMBER = /"sequence_number":\s*\d+/g

/** `null` for what is no event at all. */
function numberedMessage(message: SseMessage, number: number): SseMessage | null {
  const { event, data } = message
  const found = data.match(NUMBER)
  if (found?.length === 1 && event !== undefined) {
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
