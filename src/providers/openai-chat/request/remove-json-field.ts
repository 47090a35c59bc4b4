/**
 * Removes a field from the bytes of a JSON object: `{"store":true,"model":"m"}` → `{"model":"m"}`.
 * For a long history, this is several times faster than serializing the object again.
 *
 * Finds the field only near the start or the end of the bytes, and only if all fields between it
 * and that end have simple values (no objects, lists or escapes), so that it cannot mistake a field
 * of a nested object for it. Returns null if the field is not found.
 */
export function removeJsonField(bytes: Uint8Array, name: string): Uint8Array | null {
  const { atHead, atTail } = getPatterns(name)
  const head = atHead.exec(decoder.decode(bytes.subarray(0, SEARCHED_BYTES)))
  if (head !== null) {
    const [match = '', retained = ''] = head
    return cutBytes(bytes, retained.length, match.length)
  }
  const tail = atTail.exec(decoder.decode(bytes.subarray(-SEARCHED_BYTES)))
  if (tail === null) return null
  const [match = '', retained = ''] = tail
  return cutBytes(bytes, bytes.length - match.length, bytes.length - retained.length)
}

/**
 * How many bytes are searched at the start and at the end of the JSON. Limits the time that the
 * regular expressions take.
 */
const SEARCHED_BYTES = 500
const BLANK = '[ \\t\\r\\n]*'
const COLON = `${BLANK}:${BLANK}`
const PLAIN_VALUE = `(?:true|false|null|-?\\d[\\d.eE+-]*|"[^"\\\\]*")`
const FIELD = `${BLANK}"\\w+"${COLON}${PLAIN_VALUE}${BLANK}`

/** Decodes each byte as one character, so that positions in the text are positions in the bytes. */
const decoder = new TextDecoder('latin1')

interface FieldPatterns {
  readonly atHead: RegExp
  readonly atTail: RegExp
}

function getPatterns(name: string): FieldPatterns {
  const cached = PATTERNS_BY_NAME.get(name)
  if (cached !== undefined) return cached
  const field = `"${name}"${COLON}${PLAIN_VALUE}`
  const patterns = {
    atHead: new RegExp(`^(${BLANK}\\{(?:${FIELD},)*)${BLANK}${field}${BLANK},`),
    atTail: new RegExp(`,${BLANK}${field}((?:${BLANK},${FIELD})*${BLANK}\\}${BLANK})$`),
  }
  PATTERNS_BY_NAME.set(name, patterns)
  return patterns
}

const PATTERNS_BY_NAME = new Map<string, FieldPatterns>()

function cutBytes(bytes: Uint8Array, from: number, to: number): Uint8Array {
  const rest = new Uint8Array(bytes.length - (to - from))
  rest.set(bytes.subarray(0, from))
  rest.set(bytes.subarray(to), from)
  return rest
}
