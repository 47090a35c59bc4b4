/** Splits a text into pieces, each short enough for one line of a stream in all clients. */
export function splitLongText(text: string): readonly string[] {
  if (text.length <= MAX_TEXT_LINE_CHARS) return [text]
  const pieces: string[] = []
  for (let start = 0; start < text.length;) {
    let end = Math.min(start + MAX_TEXT_LINE_CHARS, text.length)
    // A surrogate pair (one character, e.g. an emoji) is not split.
    if (end < text.length && isHighSurrogate(text.charCodeAt(end - 1))) end -= 1
    pieces.push(text.slice(start, end))
    start = end
  }
  return pieces
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff
}

/** A character takes at most 6 bytes in JSON (`\u0000`): 60,000 bytes, less than 64 KiB. */
export const MAX_TEXT_LINE_CHARS = 10_000
