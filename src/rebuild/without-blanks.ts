/**
 * A text without its blanks, whatever blanks they are. Of every chat that a client sends as a whole all
 * words are compared, so it is done byte by byte: a pattern leaves behind several times of what it reads.
 */
export function withoutBlanks(text: string): string {
  // One character takes three bytes at most.
  const place = text.length * 3 <= PLACE.length ? PLACE : new Uint8Array(text.length * 3)
  const { written } = encoder.encodeInto(text, place)
  let length = 0
  for (let at = 0; at < written; at += 1) {
    const byte = place[at] as number
    place[length] = byte
    length += KEPT[byte] as number
  }
  const words = decoder.decode(place.subarray(0, length))
  return written === text.length ? words : words.replace(WIDE_BLANKS, '')
}

/** Written into again and again, for there are many texts and most of them are short. */
const PLACE = new Uint8Array(65_536)

/** NUL is what databases of clients take out. */
const NARROW_BLANKS = '\0\t\n\v\f\r '
/** Those that are more than one byte. */
const WIDE_BLANKS = /\s+/g

/** By byte how many of it are kept: one or none. */
const KEPT = Uint8Array.from({ length: 256 }, (_, byte) =>
  NARROW_BLANKS.includes(String.fromCharCode(byte)) ? 0 : 1,
)

const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
