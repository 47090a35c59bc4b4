/**
 * True if a text takes more than `bytes` bytes in UTF-8. Encodes the text only if it may be too
 * long, because a UTF-16 code unit takes at most 3 bytes.
 */
export function exceedsByteLimit(text: string, bytes: number): boolean {
  if (text.length * 3 <= bytes) return false
  return text.length > bytes || utf8.encode(text).length > bytes
}

const utf8 = new TextEncoder()

/**
 * Maximum size of the data in a line. Lines must stay below 64 KiB (65,536 bytes); the rest is for
 * `data: ` and the event name.
 */
export const MAX_LINE_BYTES = 64_000
