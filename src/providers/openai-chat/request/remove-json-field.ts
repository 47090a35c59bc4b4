/**
 * The bytes of a JSON object without one of its fields, all others as they were. Writing a long
 * history anew to leave out one word of its envelope costs several times what finding the word does.
 *
 * The field is looked for among the plain fields at the object's beginning and at its end, where it
 * cannot be that of an inner object. `null` if it is not there.
 */
export function removeJsonField(bytes: Uint8Array, name: string): Uint8Array | null {
  const { atHead, atTail } = getPatterns(name)
  const head = atHead.exec(decoder.decode(bytes.subarray(0, SEARCHED_BYTES)))
  if (head !== null) {
    const [all = '', kept = ''] = head
    return cutBytes(bytes, kept.length, all.length)
  }
  const tail = atTail.exec(decoder.decode(bytes.subarray(-SEARCHED_BYTES)))
  if (tail === null) return null
  const [all = '', kept = ''] = tail
  return cutBytes(bytes, bytes.length - all.length, bytes.length - kept.length)
}

/** How far from the ends it is looked for, so that no body makes it slow. */
const SEARCHED_BYTES = 500
const BLANK = '[ \\t\\r\\n]*'
const COLON = `${BLANK}:${BLANK}`
const PLAIN_VALUE = `(?:true|false|null|-?\\d[\\d.eE+-]*|"[^"\\\\]*")`
const FIELD = `${BLANK}"\\w+"${COLON}${PLAIN_VALUE}${BLANK}`

/** A character for each byte, so that places in the text are places in the bytes. */
const decoder = new TextDecoder('latin1')

interface FieldPatterns {
  readonly atHead: RegExp
  readonly atTail: RegExp
}

/** Of the few names that there are, each made once. */
function getPatterns(name: string): FieldPatterns {
  const known = PATTERNS_BY_NAME.get(name)
  if (known !== undefined) return known
  const own = `"${name}"${COLON}${PLAIN_VALUE}`
  const patterns = {
    atHead: new RegExp(`^(${BLANK}\\{(?:${FIELD},)*)${BLANK}${own}${BLANK},`),
    atTail: new RegExp(`,${BLANK}${own}((?:${BLANK},${FIELD})*${BLANK}\\}${BLANK})$`),
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
