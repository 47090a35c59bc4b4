/**
 * A failure in words that fit into a line. What an upstream says of itself may be a page, or all that it
 * was asked; some clients give up an answer of which one line is long.
 */
import type { Failure } from '../stream-event.ts'

/** The very same failure, if it is short. */
export function truncateFailure(failure: Failure): Failure {
  const { message, type, code, param } = failure
  const isShort =
    message.length <= MESSAGE_CHARS &&
    type.length <= WORD_CHARS &&
    (code?.length ?? 0) <= WORD_CHARS &&
    (param?.length ?? 0) <= WORD_CHARS
  if (isShort) return failure
  return {
    ...failure,
    message: shortened(message, MESSAGE_CHARS),
    type: shortened(type, WORD_CHARS),
    code: code === null ? null : shortened(code, WORD_CHARS),
    param: param === null ? null : shortened(param, WORD_CHARS),
  }
}

/** In JSON a character may become six, and Responses events tell a failure twice. */
const MESSAGE_CHARS = 4000
const WORD_CHARS = 400

function shortened(text: string, mostChars: number): string {
  if (text.length <= mostChars) return text
  // No half of a character stays behind.
  return `${text.slice(0, mostChars - 1).replace(/[\uD800-\uDBFF]$/, '')}…`
}
