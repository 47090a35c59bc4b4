/** Splits a text into pieces that fit into a row of every database. */

/**
 * Maximum length of a piece. A row of D1 is at most 2 MB long, and a character takes up to three bytes and
 * a third more when it is encrypted: 400,000 × 3 × 4/3 = 1.6 MB.
 */
export const PIECE_CHARS = 400_000

/** Splits a text into at least one piece, never inside of a surrogate pair. */
export function splitText(text: string, maxChars = PIECE_CHARS): readonly string[] {
  const pieces: string[] = []
  let start = 0
  do {
    const end = start + maxChars
    const next = isInSurrogatePair(text, end) ? end - 1 : end
    pieces.push(text.slice(start, next))
    start = next
  } while (start < text.length)
  return pieces
}

function isInSurrogatePair(text: string, at: number): boolean {
  const code = text.charCodeAt(at)
  return code >= 0xdc00 && code <= 0xdfff
}
