/**
 * The bytes of a JSON object without one of its fields, all others as they were. Writing a long
 * history anew to leave out one word of its envelope costs several times what finding the word does.
 *
 * `null` where it cannot be told without parsing that what was found is the field: if its name
 * stands there twice, or if some text is escaped and might be the name as well.
 */
export function withoutField(bytes: Uint8Array, name: string): Uint8Array | null {
  const text = byteText.decode(bytes)
  const key = JSON.stringify(name)
  const at = text.indexOf(key)
  if (at < 0 || text.includes(key, at + 1) || text.includes('\\u')) return null
  const behind = text.slice(at + key.length, at + key.length + 100)
  const field = /^\s*:\s*(?:true|false|null|\d+)\s*(,|\})/.exec(behind)
  if (field === null) return null
  const end = at + key.length + field[0].length
  // With the comma behind it, or the one in front of the last.
  if (field[1] === ',') return parted(bytes, at, end)
  const comma = /,\s*$/.exec(text.slice(Math.max(0, at - 100), at))
  return comma === null ? null : parted(bytes, at - comma[0].length, end - 1)
}

/** A character for each byte, so that places in the text are places in the bytes. */
const byteText = new TextDecoder('latin1')

function parted(bytes: Uint8Array, from: number, to: number): Uint8Array {
  const rest = new Uint8Array(bytes.length - (to - from))
  rest.set(bytes.subarray(0, from))
  rest.set(bytes.subarray(to), from)
  return rest
}
