/**
 * Estimates how many bytes of the JavaScript heap a value takes that consists of texts, numbers, lists and plain
 * objects. Objects that occur twice in it are counted twice.
 */
export function estimateHeapBytes(value: unknown): number {
  if (typeof value === 'string')
    return TEXT_BYTES + value.length * (HAS_WIDE_CHARS.test(value) ? 2 : 1)
  if (typeof value === 'number') return NUMBER_BYTES
  if (typeof value !== 'object' || value === null) return 0
  if (Array.isArray(value)) {
    let bytes = LIST_BYTES
    for (const element of value) bytes += SLOT_BYTES + estimateHeapBytes(element)
    return bytes
  }
  let bytes = OBJECT_BYTES
  // `Object.entries` takes eight times as long.
  for (const name in value) {
    bytes += SLOT_BYTES + NAME_BYTES + estimateHeapBytes((value as Record<string, unknown>)[name])
  }
  return bytes
}

/**
 * V8 takes one byte for each character if all characters of the text are below U+0100, else two. In a text of one-byte
 * characters this search costs nothing, because V8 skips it.
 */
const HAS_WIDE_CHARS = /[^\0-\xff]/

// Measured with Node 24: headers, and pointers of 8 bytes. With the smaller pointers of Workers, values take less.
const TEXT_BYTES = 24
const NUMBER_BYTES = 8
const LIST_BYTES = 48
const OBJECT_BYTES = 32
const SLOT_BYTES = 8
/** Bytes of a field name. Less than its text, because most names are shared by all objects with the same fields. */
const NAME_BYTES = 8
