/**
 * Shortens a failure to fit into one line of a stream. An upstream's message may contain the complete
 * request, and some clients drop an answer with a long line.
 */
import type { Failure } from '../stream-event.ts'

/** Returns the same failure if it is short. */
export function truncateFailure(failure: Failure): Failure {
  const { message, type, code, param } = failure
  const isShort =
    message.length <= MESSAGE_CHARS &&
    type.length <= FIELD_CHARS &&
    (code?.length ?? 0) <= FIELD_CHARS &&
    (param?.length ?? 0) <= FIELD_CHARS
  if (isShort) return failure
  return {
    ...failure,
    message: truncate(message, MESSAGE_CHARS),
    type: truncate(type, FIELD_CHARS),
    code: code === null ? null : truncate(code, FIELD_CHARS),
    param: param === null ? null : truncate(param, FIELD_CHARS),
  }
}

/** In JSON a character may become 6, and Responses events contain a failure twice: 4000 × 6 × 2 = 48,000 characters. */
const MESSAGE_CHARS = 4000
const FIELD_CHARS = 400

function truncate(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text
  // Drops half a surrogate pair at the end.
  return `${text.slice(0, maxChars - 1).replace(/[\uD800-\uDBFF]$/, '')}…`
}
