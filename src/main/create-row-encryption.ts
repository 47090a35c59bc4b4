/** The vault of a gateway: sealed with the keys of its settings, and the log hears what is not readable. */
import type { Log } from '../core/ports/log-interface.ts'
import { sealer, type StorageKey } from '../store/encryption/cipher.ts'
import type { Vault } from '../store/encryption/read-encrypted-rows.ts'

export function vaultFor(keys: readonly StorageKey[], log: Log): Vault {
  return {
    sealer: sealer(keys),
    onUnreadable: (count) => log('warn', 'unreadable-rows', { count }),
  }
}
