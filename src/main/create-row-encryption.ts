/**
 * Creates the encryption of database rows with the configured keys. Rows that cannot be read are
 * logged with the ids of the missing keys.
 */
import type { Log } from '../core/ports/log-interface.ts'
import { createStorageCipher, type StorageKey } from '../store/encryption/cipher.ts'
import type { RowEncryption } from '../store/encryption/decrypt-rows.ts'

export function createRowEncryption(
  keys: readonly StorageKey[],
  trustsOldFormats: () => boolean,
  log: Log,
): RowEncryption {
  return {
    cipher: createStorageCipher(keys, trustsOldFormats),
    onUnreadable(failures) {
      const kids = failures.flatMap((failure) => (failure.why === 'key-missing' ? failure.kid : []))
      const untrusted = failures.filter(({ why }) => why === 'not-trusted').length
      log('warn', 'unreadable-rows', {
        count: failures.length,
        ...(kids.length > 0 ? { missing_keys: [...new Set(kids)].join(' ') } : {}),
        ...(untrusted > 0 ? { not_trusted: untrusted } : {}),
      })
    },
  }
}
