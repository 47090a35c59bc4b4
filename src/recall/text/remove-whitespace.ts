/**
 * A text without its blanks, whatever blanks they are. Of every chat that a client sends as a whole all
 * words are compared, so it is done byte by byte: a pattern leaves behind several times of what it reads.
 */
export function removeWhitespace(text: string): string {
  // One character takes three bytes at most.
  const place = text.length * 3 <= PLACE.length ? PLACE : Buffer.allocUnsafe(text.length * 3)
  if (!BEYOND_LATIN.test(text)) {
    const length = closedUp(place, place.write(text, 'latin1'), LATIN_KEPT)
    return place.toString('latin1', 0, length)
  }
  const length = closedUp(place, place.write(text, 'utf8'), KEPT)
  return place.toString('utf8', 0, length).replace(WIDE_BLANKS, '')
}

/** How many bytes are left of those that were written, in their order. */
function closedUp(place: Uint8Array, written: number, kept: Uint8Array): number {
  let length = 0
  for (let at = 0; at < written; at += 1) {
    const byte = place[at] as number
    place[length] = byte
    length += kept[byte] as number
  }
  return length
}

/** Of a text that has none V8 knows that without reading it, and it has it in one byte a character. */
const BEYOND_LATIN = /[^\0-\xff]/

/** Written into again and again, for there are many texts and most of them are short. */
const PLACE = Buffer.allocUnsafeSlow(65_536)

/** NUL is what databases of clients take out. */
const NARROW_BLANKS = '\0\t\n\v\f\r '
/** Those that are more than one byte in UTF-8. */
const WIDE_BLANKS = /\s+/g

/** By byte how many of it are kept: one or none. */
const KEPT = keptBut(NARROW_BLANKS)
const LATIN_KEPT = keptBut(`${NARROW_BLANKS}\xa0`)

function keptBut(blanks: string): Uint8Array {
  return Uint8Array.from({ length: 256 }, (_, byte) =>
    blanks.includes(String.fromCharCode(byte)) ? 0 : 1,
  )
}
