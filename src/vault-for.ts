/** The vault of a gateway: sealed with the keys of its settings, and the log hears what is not readable. */
import type { Log } from './conversation/log.ts'
import { sealer, type StorageKey } from './store/seal.ts'
import type { Vault } from './store/vault.ts'

export function vaultFor(keys: readonly StorageKey[], log: Log): Vault {
  return {
    sealer: sealer(keys),
    onUnreadable: (count) => log('warn', 'unreadable-rows', { count }),
  }
}
