/**
 * Removes all whitespace from a text, and NUL characters. The function works on bytes because it
 * reads the text of a complete chat for each request, and a regular expression would allocate
 * several times the size of the text.
 */
export function removeWhitespace(text: string): string {
  // The buffer is long enough: a UTF-16 code unit takes at most 3 bytes in UTF-8.
  const buffer =
    text.length * 3 <= SHARED_BUFFER.length ? SHARED_BUFFER : Buffer.allocUnsafe(text.length * 3)
  if (!NON_LATIN1.test(text)) {
    const length = compactBytes(buffer, buffer.write(text, 'latin1'), LATIN1_KEEP)
    return buffer.toString('latin1', 0, length)
  }
  const length = compactBytes(buffer, buffer.write(text, 'utf8'), UTF8_KEEP)
  return buffer.toString('utf8', 0, length).replace(MULTI_BYTE_BLANKS, '')
}

/**
 * Moves the bytes that stay (1 in `keepTable`) to the start of the buffer, and returns their
 * number.
 */
function compactBytes(buffer: Uint8Array, byteCount: number, keepTable: Uint8Array): number {
  let length = 0
  for (let index = 0; index < byteCount; index += 1) {
    const byte = buffer[index] as number
    buffer[length] = byte
    length += keepTable[byte] as number
  }
  return length
}

/**
 * Matches a character outside of Latin-1. The check is fast for Latin-1 text: V8 stores such text
 * with one byte per character, and so knows the result without reading it.
 */
const NON_LATIN1 = /[^\0-\xff]/

/**
 * Shared buffer for all texts of up to 21,845 characters (65,535 bytes), which avoids one
 * allocation per text.
 */
const SHARED_BUFFER = Buffer.allocUnsafeSlow(65_536)

/**
 * Whitespace that takes one byte in UTF-8. Also NUL, which is no whitespace, but which clients'
 * databases remove from texts.
 */
const SINGLE_BYTE_BLANKS = '\0\t\n\v\f\r '
/**
 * Matches the whitespace that remains after the single bytes were removed: it takes several bytes
 * in UTF-8, e.g. U+3000.
 */
const MULTI_BYTE_BLANKS = /\s+/g

/** Table of 256 entries, one per byte value: 1 if the byte stays, 0 if it is removed. */
const UTF8_KEEP = buildKeepTable(SINGLE_BYTE_BLANKS)
const LATIN1_KEEP = buildKeepTable(`${SINGLE_BYTE_BLANKS}\xa0`)

function buildKeepTable(removedChars: string): Uint8Array {
  return Uint8Array.from({ length: 256 }, (_, byte) =>
    removedChars.includes(String.fromCharCode(byte)) ? 0 : 1,
  )
}
