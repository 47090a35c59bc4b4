/**
 * Replaces the escapes of lone surrogates, such as `\ud83d`, by the escape of U+FFFD. Both have six
 * characters, so a body that consists of such escapes is replaced in place, without a string for each.
 */
const [BACKSLASH, LETTER_U] = [92, 117]
const ESCAPE_BYTES = 6
const REPLACEMENT_ESCAPE = new TextEncoder().encode(String.raw`\ufffd`)

/** Returns a copy of the JSON text without lone surrogates; the same bytes if it has none. */
export function replaceLoneSurrogateEscapes(json: Uint8Array): Uint8Array {
  let replaced = json
  for (let at = json.indexOf(BACKSLASH); at !== -1 && at < json.length;) {
    if (json[at] !== BACKSLASH) {
      at += 1
      continue
    }
    const half = readSurrogate(json, at)
    if (half === null) {
      // Skips the escaped character too: in `\\ud83d`, the second backslash starts no escape.
      at += 2
      continue
    }
    const isPair = half === 'high' && readSurrogate(json, at + ESCAPE_BYTES) === 'low'
    if (!isPair) {
      if (replaced === json) replaced = json.slice()
      replaced.set(REPLACEMENT_ESCAPE, at)
    }
    at += isPair ? 2 * ESCAPE_BYTES : ESCAPE_BYTES
  }
  return replaced
}

/** Returns the kind of surrogate whose escape is at the position; null if another character or escape is there. */
function readSurrogate(json: Uint8Array, at: number): 'high' | 'low' | null {
  if (json[at] !== BACKSLASH || json[at + 1] !== LETTER_U) return null
  let unit = 0
  for (let digit = at + 2; digit < at + ESCAPE_BYTES; digit++) {
    const value = readHexDigit(json[digit] ?? 0)
    if (value === -1) return null
    unit = unit * 16 + value
  }
  if (unit >= 0xd800 && unit < 0xdc00) return 'high'
  return unit >= 0xdc00 && unit < 0xe000 ? 'low' : null
}

function readHexDigit(byte: number): number {
  if (byte >= 48 && byte <= 57) return byte - 48
  const letter = byte | 32
  return letter >= 97 && letter <= 102 ? letter - 87 : -1
}
