/**
 * A text without its blanks, whatever blanks they are. Of every chat that a client sends as a whole all
 * words are compared, so it is done byte by byte: a pattern leaves behind several times of what it reads.
 */
export function removeWhitespace(text: string): string {
  // One character takes three bytes at most.
  const buffer =
    text.length * 3 <= SHARED_BUFFER.length ? SHARED_BUFFER : Buffer.allocUnsafe(text.length * 3)
  if (!NON_LATIN1.test(text)) {
    const length = compactBytes(buffer, buffer.write(text, 'latin1'), LATIN1_KEEP)
    return buffer.toString('latin1', 0, length)
  }
  const length = compactBytes(buffer, buffer.write(text, 'utf8'), UTF8_KEEP)
  return buffer.toString('utf8', 0, length).replace(MULTI_BYTE_BLANKS, '')
}

/** How many bytes are left of those that were written, in their order. */
function compactBytes(buffer: Uint8Array, byteCount: number, keepTable: Uint8Array): number {
  let length = 0
  for (let index = 0; index < byteCount; index += 1) {
    const byte = buffer[index] as number
    buffer[length] = byte
    length += keepTable[byte] as number
  }
  return length
}

/** Of a text that has none V8 knows that without reading it, and it has it in one byte a character. */
const NON_LATIN1 = /[^\0-\xff]/

/** Written into again and again, for there are many texts and most of them are short. */
const SHARED_BUFFER = Buffer.allocUnsafeSlow(65_536)

/** NUL is what databases of clients take out. */
const SINGLE_BYTE_BLANKS = '\0\t\n\v\f\r '
/** Those that are more than one byte in UTF-8. */
const MULTI_BYTE_BLANKS = /\s+/g

/** By byte how many of it are kept: one or none. */
const UTF8_KEEP = buildKeepTable(SINGLE_BYTE_BLANKS)
const LATIN1_KEEP = buildKeepTable(`${SINGLE_BYTE_BLANKS}\xa0`)

function buildKeepTable(removedChars: string): Uint8Array {
  return Uint8Array.from({ length: 256 }, (_, byte) =>
    removedChars.includes(String.fromCharCode(byte)) ? 0 : 1,
  )
}
