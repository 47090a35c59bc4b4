/**
 * Creates the encryption of database rows with the configured keys. Rows that no key decrypts are
 * logged.
 */
import type { Log } from '../core/ports/log-interface.ts'
import { createStorageCipher, type StorageKey } from '../store/encryption/cipher.ts'
import type { RowEncryption } from '../store/encryption/decrypt-rows.ts'

export function createRowEncryption(keys: readonly StorageKey[], log: Log): RowEncryption {
  return {
    cipher: createStorageCipher(keys),
    onUnreadable: (count) => log('warn', 'unreadable-rows', { count }),
  }
}
