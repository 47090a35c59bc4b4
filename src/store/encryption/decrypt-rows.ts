/**
 * Decrypts rows. By default, texts that cannot be decrypted or parsed are left out. A read for a
 * client that asks for stored data, or continues it by its id, fails instead, because incomplete data
 * would look complete.
 */
import { GatewayError } from '../../core/errors/gateway-error.ts'
import { tryParseJsonObject, type JsonObject } from '../../core/json/json.ts'
import {
  createStorageCipher,
  type DecryptionFailure,
  type RowLocation,
  type StorageCipher,
} from './cipher.ts'

export interface RowEncryption {
  readonly cipher: StorageCipher
  /** Called once per read with the texts that cannot be read. */
  readonly onUnreadable: (failures: readonly ReadFailure[]) => void
}

export const NO_ENCRYPTION: RowEncryption = {
  cipher: createStorageCipher([]),
  onUnreadable: () => {},
}

/** `unusable`: the text is not a JSON object, or a piece of a medium is missing. */
export type ReadFailure = DecryptionFailure | { readonly why: 'unusable' }

/**
 * Says whether a read leaves out the texts that it cannot decrypt, or throws an error. A text that is
 * decrypted but `unusable` is left out in both cases.
 */
export type UndecryptableRule = 'leave-out' | 'fail'

/** The tenant and the user of rows, encoded as in their columns; `user` is empty if there is none. */
export type RowOwner = Pick<RowLocation, 'tenant' | 'user'>

/**
 * Decrypts columns of one owner's rows. If a text cannot be read, a method returns `null` and
 * collects the failure.
 */
export interface RowReader {
  readonly decryptText: (column: string, location: LocationOfOwner) => string | null
  /** Decrypts and parses a JSON object. */
  readonly decryptObject: (column: string, location: LocationOfOwner) => JsonObject | null
  /** Parses a column that is never encrypted, or that was decrypted before. */
  readonly parsePlain: (column: string | null) => JsonObject | null
}

interface ReadOptions {
  readonly rule?: UndecryptableRule
  /** Failures that are known already. */
  readonly failures?: readonly ReadFailure[]
}

type LocationOfOwner = Omit<RowLocation, keyof RowOwner>

/** Runs `read` with a reader for the rows of an owner. */
export function decryptRows<Result>(
  { cipher, onUnreadable }: RowEncryption,
  { tenant, user }: RowOwner,
  read: (reader: RowReader) => Result,
  { rule = 'leave-out', failures: knownFailures = [] }: ReadOptions = {},
): Result {
  const failures = [...knownFailures]
  const decryptText = (column: string, { rowId, part, position }: LocationOfOwner) => {
    const text = cipher.decrypt(column, { tenant, user, rowId, part, position })
    if (text === null) failures.push(cipher.explainFailure(column))
    return text
  }
  const parsePlain = (text: string | null): JsonObject | null => {
    const object = text === null ? null : tryParseJsonObject(text)
    if (text !== null && object === null) failures.push({ why: 'unusable' })
    return object
  }
  const result = read({
    decryptText,
    decryptObject: (column, location) => parsePlain(decryptText(column, location)),
    parsePlain,
  })
  if (failures.length > 0) onUnreadable(failures)
  if (rule === 'fail') throwUndecryptable(failures)
  return result
}

function throwUndecryptable(failures: readonly ReadFailure[]): void {
  const reasons = new Set(failures.map(({ why }) => why))
  if (reasons.has('key-missing'))
    throw new GatewayError(
      'storage_key_missing',
      'The stored data is encrypted with a key that the gateway does not have. The operator of the gateway has to add the key to the setting STORAGE_KEYS; the log names it.',
    )
  if (reasons.has('not-trusted'))
    throw new GatewayError(
      'stored_data_untrusted',
      'The stored data is not encrypted for its user, although all data of this gateway should be, so it may have been changed in the database. The operator of the gateway can accept it with the setting STORAGE_PLAIN_TEXT.',
    )
  if (reasons.has('damaged'))
    throw new GatewayError(
      'stored_data_untrusted',
      'The stored data cannot be decrypted, because it was changed or moved in the database.',
    )
}
