/**
 * How the rows of the memory are written and read: what was said is sealed as the keys want it, and a
 * row that nobody can read takes no other with it. It is left out, and the log is told how many.
 */
import { tryParseJsonObject, type JsonObject } from '../../core/json/json.ts'
import { createStorageCipher, type RowLocation, type StorageCipher } from './cipher.ts'

export interface RowEncryption {
  readonly sealer: StorageCipher
  /** Told once for all that were read together. */
  readonly onUnreadable: (count: number) => void
}

export const NO_ENCRYPTION: RowEncryption = {
  sealer: createStorageCipher([]),
  onUnreadable: () => {},
}

/** The text of a column with the place it stands in, of the tenant whose rows are read. */
export interface RowReader {
  readonly text: (column: string, place: PlaceInTenant) => string | null
  /** What is not a JSON object cannot be read either. */
  readonly object: (column: string, place: PlaceInTenant) => JsonObject | null
  /** Of a column that is never sealed. */
  readonly plain: (column: string | null) => JsonObject | null
}

type PlaceInTenant = Omit<RowLocation, 'tenant'>

/** `tenant` as it stands in its column. */
export function readEncryptedRows<Result>(
  { sealer, onUnreadable }: RowEncryption,
  tenant: string,
  read: (reading: RowReader) => Result,
): Result {
  let unreadable = 0
  const counted = <Value>(value: Value | null): Value | null => {
    if (value === null) unreadable += 1
    return value
  }
  const unsealed = (column: string, { turnId, part, position }: PlaceInTenant) =>
    sealer.unseal(column, { tenant, turnId, part, position })
  const result = read({
    text: (column, place) => counted(unsealed(column, place)),
    object: (column, place) => counted(objectIn(unsealed(column, place))),
    plain: (column) => (column === null ? null : counted(tryParseJsonObject(column))),
  })
  if (unreadable > 0) onUnreadable(unreadable)
  return result
}

function objectIn(text: string | null): JsonObject | null {
  return text === null ? null : tryParseJsonObject(text)
}
