/**
 * Joins the texts of the client's messages in an answer segment (consecutive model-made items), and
 * cuts messages out of the joined text.
 */
import { textOf, type Message } from '../../core/item.ts'
import { findLowerBound } from '../map-and-list-helpers.ts'
import { normalizeLineBreaks } from '../text/normalize-text.ts'

export interface ClientText {
  readonly text: string
  readonly messages: readonly Message[]
  /** The offsets in `text` at which the text of each message begins and ends. */
  readonly messageStarts: readonly number[]
  readonly messageEnds: readonly number[]
}

/** A client's message, or a part of it. */
export interface ClientSlice {
  readonly message: Message
  /** Index of the client's message. */
  readonly clientIndex: number
}

export function joinClientText(messages: readonly Message[]): ClientText {
  const texts = messages.map(({ content }) => normalizeLineBreaks(textOf(content)))
  const messageStarts: number[] = []
  let length = 0
  for (const text of texts) {
    messageStarts.push(length)
    length += text.length + SEPARATOR.length
  }
  const messageEnds = texts.map((text, index) => (messageStarts[index] ?? 0) + text.length)
  return { text: texts.join(SEPARATOR), messages, messageStarts, messageEnds }
}

const SEPARATOR = '\n\n'

/**
 * Returns what the client's messages have of a range of the joined text. A message in this range
 * that has no text, e.g. an image, is returned, too.
 */
export function sliceClientText(
  { text, messages, messageStarts, messageEnds }: ClientText,
  start: number,
  end: number,
): readonly ClientSlice[] {
  const slices: ClientSlice[] = []
  const first = findLowerBound(messageEnds, start)
  for (const [offset, message] of messages.slice(first).entries()) {
    const clientIndex = first + offset
    const [messageStart = 0, messageEnd = 0] = [
      messageStarts[clientIndex],
      messageEnds[clientIndex],
    ]
    if (messageStart > end) break
    const slice = text.slice(Math.max(start, messageStart), Math.min(end, messageEnd))
    if (slice.trim() === text.slice(messageStart, messageEnd).trim())
      slices.push({ message: removeRecordedFields(message), clientIndex })
    else if (slice.trim() !== '') {
      // The indentation of the first line stays.
      const content = slice.replace(/^(?:[^\S\n]*\n)+/, '')
      slices.push({
        message: {
          type: 'message',
          role: 'assistant',
          content: [{ type: 'output_text', text: end < messageEnd ? content.trimEnd() : content }],
        },
        clientIndex,
      })
    }
  }
  return slices
}

/**
 * Removes the fields of a client's message that may describe the recorded text instead of the
 * edited one: id, status, origin and provider-specific fields, e.g. a signature.
 */
function removeRecordedFields(message: Message): Message {
  const { id, status, native, origin, ...rest } = message
  return id === undefined && status === undefined && native === undefined && origin === undefined
    ? message
    : rest
}
