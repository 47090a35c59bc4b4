/** Splits a text into pieces that each fit into one line of a stream for all clients. */
export function splitLongText(text: string): readonly string[] {
  if (text.length <= MAX_TEXT_LINE_CHARS) return [text]
  const pieces: string[] = []
  for (let start = 0; start < text.length;) {
    let end = Math.min(start + MAX_TEXT_LINE_CHARS, text.length)
    // Does not split a surrogate pair, which is one character, e.g. an emoji.
    if (end < text.length && isHighSurrogate(text.charCodeAt(end - 1))) end -= 1
    pieces.push(text.slice(start, end))
    start = end
  }
  return pieces
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff
}

/**
 * Maximum length of a piece: a character takes at most 6 bytes in JSON (`\u0000`), so 10,000 take
 * 60,000 bytes, less than 64 KiB.
 */
export const MAX_TEXT_LINE_CHARS = 10_000
