/** A text in pieces of which each makes a line of a stream that is not too long for any client. */
export function splitLongText(text: string): readonly string[] {
  if (text.length <= MAX_TEXT_LINE_CHARS) return [text]
  const out: string[] = []
  for (let at = 0; at < text.length;) {
    let end = Math.min(at + MAX_TEXT_LINE_CHARS, text.length)
    // The two halves of a character stay together.
    if (end < text.length && isHighSurrogate(text.charCodeAt(end - 1))) end -= 1
    out.push(text.slice(at, end))
    at = end
  }
  return out
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff
}

/** A character takes at most six bytes of JSON, which makes 60,000. */
export const MAX_TEXT_LINE_CHARS = 10_000
