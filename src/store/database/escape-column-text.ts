/**
 * Text from outside as a column's value, and back. Postgres refuses NUL, and UTF-8 has no word for
 * half a surrogate pair: such a text is kept as a JSON string. So is one that starts like a JSON
 * string, or it could not be told from those.
 */
export function encodeColumn(text: string): string {
  const isPlain = text.charCodeAt(0) !== QUOTE && !text.includes('\0') && text.isWellFormed()
  return isPlain ? text : JSON.stringify(text)
}

export function decodeColumn(column: string): string {
  return column.charCodeAt(0) === QUOTE ? (JSON.parse(column) as string) : column
}

export function encodeNullableColumn(text: string | null | undefined): string | null {
  return text === null || text === undefined ? null : encodeColumn(text)
}

export function decodeNullableColumn(column: string | null): string | null {
  return column === null ? null : decodeColumn(column)
}

const QUOTE = 0x22

/**
 * What an item may be looked up by. A key that is too long for an index, or no text at all, is no
 * key: the item is kept, but not found by it.
 */
export function encodeKeyColumn(key: unknown): string | null {
  return typeof key === 'string' && key.length <= MAX_KEY_CHARS ? encodeColumn(key) : null
}

const MAX_KEY_CHARS = 256
