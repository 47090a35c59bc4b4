/**
 * Chooses how to read an answer that was asked for as a stream: some upstreams send it whole. It is
 * told by its first character, because a content type is easily wrong and no event begins with `{`.
 */
import type { ResponseWriter } from './response-writer-interface.ts'

export function selectWriterByFirstByte(
  streamed: ResponseWriter,
  whole: () => ResponseWriter,
): ResponseWriter {
  let chosen = streamed
  let isOpen = true
  return {
    push(chunk) {
      const isObject = isOpen ? startsWithJsonObject(chunk) : null
      if (isObject !== null) {
        isOpen = false
        if (isObject) chosen = whole()
      }
      return chosen.push(chunk)
    },
    isOver: () => chosen.isOver(),
    isCutShort: () => chosen.isCutShort(),
    close: (failure) => chosen.close(failure),
    outcome: () => chosen.outcome(),
    end: (outcome) => chosen.end(outcome),
    // Of what comes whole nothing is sent before its end.
    onReady: (send) => streamed.onReady?.(send),
  }
}

/** `null` while there is nothing to tell it by. */
export function startsWithJsonObject(chunk: Uint8Array): boolean | null {
  const first = firstByte(chunk)
  return first === null ? null : first === BRACE
}

const BRACE = 123

/** White space, and the mark that may stand in front of a text in UTF-8. */
const SKIPPED: ReadonlySet<number> = new Set([9, 10, 13, 32, 0xef, 0xbb, 0xbf])

/** `null` while there is nothing to read in it. */
function firstByte(chunk: Uint8Array): number | null {
  for (const byte of chunk) if (!SKIPPED.has(byte)) return byte
  return null
}
