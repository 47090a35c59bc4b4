/**
 * Limits for the lines of a stream. Open WebUI aborts an answer at a line of more than 128 KiB
 * (131,072 bytes). Long texts and lists are split, so that their lines stay below 64 KiB.
 */

/**
 * True if a text takes more than `maxBytes` bytes in UTF-8. A text of at most `maxBytes / 3` UTF-16
 * code units is not encoded: each of them takes at most 3 bytes, so the text fits.
 */
export function exceedsByteLimit(text: string, maxBytes: number): boolean {
  if (text.length * 3 <= maxBytes) return false
  return text.length > maxBytes || utf8.encode(text).length > maxBytes
}

const utf8 = new TextEncoder()

/** Maximum size of the data in a line. The line also contains `data: `, and stays below 64 KiB. */
export const MAX_LINE_BYTES = 64_000

/** Splits a text into pieces of at most 10,000 characters, so that each fits into one line. */
export function splitLongText(text: string): readonly string[] {
  if (text.length <= MAX_CHARS_PER_STREAM_LINE) return [text]
  const pieces: string[] = []
  for (let start = 0; start < text.length;) {
    let end = Math.min(start + MAX_CHARS_PER_STREAM_LINE, text.length)
    // A surrogate pair is not split: two UTF-16 code units that are one character, e.g. an emoji.
    if (end < text.length && (text.codePointAt(end - 1) ?? 0) > 0xffff) end -= 1
    pieces.push(text.slice(start, end))
    start = end
  }
  return pieces
}

/**
 * Maximum length of a text in one line. A character takes at most 6 bytes in JSON (`\u0000`), so
 * 10,000 take 60,000 bytes, less than 64 KiB.
 */
export const MAX_CHARS_PER_STREAM_LINE = 10_000
