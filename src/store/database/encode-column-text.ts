/**
 * Encodes any text for a database column, and decodes it. Postgres rejects NUL, and UTF-8 cannot
 * represent an unpaired surrogate, so a text that contains either is stored as a JSON string. A
 * text that begins with a double quote is stored as a JSON string too, so that it is not mistaken
 * for one.
 */
export function encodeColumnText(text: string): string {
  const isPlain = text.charCodeAt(0) !== QUOTE && !text.includes('\0') && text.isWellFormed()
  return isPlain ? text : JSON.stringify(text)
}

export function decodeColumnText(column: string): string {
  return column.charCodeAt(0) === QUOTE ? (JSON.parse(column) as string) : column
}

export function encodeNullableColumn(text: string | null | undefined): string | null {
  return text === null || text === undefined ? null : encodeColumnText(text)
}

export function decodeNullableColumnText(column: string | null): string | null {
  return column === null ? null : decodeColumnText(column)
}

const QUOTE = 0x22

/**
 * Encodes an id for an indexed column. Returns `null` for a value that is no string or longer than
 * 256 characters, the limit of the index: the item is stored, but cannot be found by that id.
 */
export function encodeKeyColumn(key: unknown): string | null {
  return typeof key === 'string' && key.length <= MAX_KEY_CHARS ? encodeColumnText(key) : null
}

const MAX_KEY_CHARS = 256
