/**
 * Reads the stop sequences of a request: a string or a list. OpenAI accepts 4, but other services
 * accept more, so the gateway accepts 64. It needs a limit because it searches each answer for
 * them.
 */
import { asListOf, asString, createInvalidValueError } from './check-json-types.ts'

const MAX_STOP_SEQUENCES = 64
const MAX_STOP_SEQUENCE_CHARS = 1024

export function asStopSequences(value: unknown, path: string): readonly string[] {
  if (typeof value === 'string') return [asStopSequence(value, path)]
  if (Array.isArray(value) && value.length > MAX_STOP_SEQUENCES) {
    throw createInvalidValueError(
      path,
      `${value.length} stop sequences are too many. At most ${MAX_STOP_SEQUENCES} are accepted.`,
    )
  }
  return asListOf(asStopSequence)(value, path)
}

function asStopSequence(value: unknown, path: string): string {
  const text = asString(value, path)
  if (text.length <= MAX_STOP_SEQUENCE_CHARS) return text
  throw createInvalidValueError(
    path,
    `a stop sequence has at most ${MAX_STOP_SEQUENCE_CHARS} characters.`,
  )
}
