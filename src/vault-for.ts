/** The vault of a gateway: sealed with the keys of its settings, and the log hears what is not readable. */
import { sealer, type StorageKey } from './store/seal.ts'
import type { Vault } from './store/vault.ts'
import type { Log } from './world.ts'

export function vaultFor(keys: readonly StorageKey[], log: Log): Vault {
  return {
    sealer: sealer(keys),
    onUnreadable: (count) => log('warn', 'unreadable-rows', { count }),
  }
}
