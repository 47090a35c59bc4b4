/**
 * The bytes of a JSON object without one of its fields, all others as they were. Writing a long
 * history anew to leave out one word of its envelope costs several times what finding the word does.
 *
 * `null` where it cannot be told without parsing that what was found is the field: if its name
 * stands there twice, or if some text is escaped and might be the name as well.
 */
export function withoutField(bytes: Uint8Array, name: string): Uint8Array | null {
  // Both runtimes have it, and it alone searches bytes natively.
  const all = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  const key = JSON.stringify(name)
  const at = all.indexOf(key)
  if (at < 0 || all.includes(key, at + 1) || all.includes('\\u')) return null
  const behind = all.toString('latin1', at + key.length, at + key.length + 100)
  const field = /^\s*:\s*(?:true|false|null|\d+)\s*(,|\})/.exec(behind)
  if (field === null) return null
  const end = at + key.length + field[0].length
  // With the comma behind it, or the one in front of the last.
  if (field[1] === ',') return parted(all, at, end)
  const comma = /,\s*$/.exec(all.toString('latin1', Math.max(0, at - 100), at))
  return comma === null ? null : parted(all, at - comma[0].length, end - 1)
}

function parted(bytes: Buffer, from: number, to: number): Uint8Array {
  return Buffer.concat([bytes.subarray(0, from), bytes.subarray(to)])
}
