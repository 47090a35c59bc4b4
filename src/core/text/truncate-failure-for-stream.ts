/**
 * Truncates the texts of a failure, so that it fits into one line of a stream. An upstream's message may
 * contain the complete request, and some clients drop an answer with a long line.
 */
import type { Failure } from '../stream-event.ts'

/** Returns the failure with truncated texts; the same failure if all texts are short. */
export function truncateFailureForStream(failure: Failure): Failure {
  const { message, type, code, param } = failure
  const isShort =
    message.length <= MESSAGE_CHARS &&
    [type, code ?? '', param ?? ''].every((text) => text.length <= FIELD_CHARS)
  if (isShort) return failure
  return {
    ...failure,
    message: truncate(message, MESSAGE_CHARS),
    type: truncate(type, FIELD_CHARS),
    code: code === null ? null : truncate(code, FIELD_CHARS),
    param: param === null ? null : truncate(param, FIELD_CHARS),
  }
}

/**
 * In JSON, a character has up to 6 characters (`\u0000`), and a Responses event has the message twice. So the
 * message adds at most 48,000 bytes to a line, and the line stays below 128 KiB, the limit of some clients.
 */
const MESSAGE_CHARS = 4000
const FIELD_CHARS = 400

function truncate(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text
  // Removes half of a surrogate pair at the end.
  return `${text.slice(0, maxChars - 1).replace(/[\uD800-\uDBFF]$/, '')}…`
}
