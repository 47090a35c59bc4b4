/**
 * Decrypts rows. Leaves out rows that cannot be decrypted or parsed, and passes their number to
 * `onUnreadable`.
 */
import { tryParseJsonObject, type JsonObject } from '../../core/json/json.ts'
import { createStorageCipher, type RowLocation, type StorageCipher } from './cipher.ts'

export interface RowEncryption {
  readonly cipher: StorageCipher
  /** Called once per read with the number of texts that cannot be read. */
  readonly onUnreadable: (count: number) => void
}

export const NO_ENCRYPTION: RowEncryption = {
  cipher: createStorageCipher([]),
  onUnreadable: () => {},
}

/**
 * Decrypts columns of one tenant's rows. If a text cannot be read, a method returns `null` and
 * counts the text as unreadable.
 */
export interface RowReader {
  readonly decryptText: (column: string, location: LocationInTenant) => string | null
  /** Decrypts and parses a JSON object. */
  readonly decryptObject: (column: string, location: LocationInTenant) => JsonObject | null
  /** Parses a column that is never encrypted. */
  readonly parsePlain: (column: string | null) => JsonObject | null
}

type LocationInTenant = Omit<RowLocation, 'tenant'>

/** Runs `read` with a reader for the rows of a tenant. `tenant` is encoded as in its column. */
export function decryptRows<Result>(
  { cipher, onUnreadable }: RowEncryption,
  tenant: string,
  read: (reader: RowReader) => Result,
): Result {
  let unreadable = 0
  const countUnreadable = <Value>(value: Value | null): Value | null => {
    if (value === null) unreadable += 1
    return value
  }
  const decryptColumn = (column: string, { rowId, part, position }: LocationInTenant) =>
    cipher.decrypt(column, { tenant, rowId, part, position })
  const result = read({
    decryptText: (column, location) => countUnreadable(decryptColumn(column, location)),
    decryptObject: (column, location) =>
      countUnreadable(parseObject(decryptColumn(column, location))),
    parsePlain: (column) => (column === null ? null : countUnreadable(tryParseJsonObject(column))),
  })
  if (unreadable > 0) onUnreadable(unreadable)
  return result
}

function parseObject(text: string | null): JsonObject | null {
  return text === null ? null : tryParseJsonObject(text)
}
