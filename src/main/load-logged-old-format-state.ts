/** Loads whether texts in old formats are trusted, and logs a warning if the operator should change that. */
import type { Log } from '../core/ports/log-interface.ts'
import type { Settings } from '../settings/read-settings.ts'
import type { Engine } from '../store/database/engine-interface.ts'
import { loadOldFormatState, type OldFormatState } from '../store/encryption/old-format-rule.ts'

export async function loadLoggedOldFormatState(
  engine: Engine,
  { STORAGE_KEYS, STORAGE_PLAIN_TEXT }: Settings,
  log: Log,
): Promise<OldFormatState> {
  const hasKey = STORAGE_KEYS.length > 0
  const state = await loadOldFormatState(engine, STORAGE_PLAIN_TEXT, hasKey)
  if (hasKey && state.trustsOldFormats) {
    const why = state.isAllEncrypted ? 'STORAGE_PLAIN_TEXT=accept' : 'not resealed'
    log('warn', 'plain-text-trusted', { why })
  }
  if (!hasKey && state.isAllEncrypted) log('warn', 'storage-keys-missing')
  return state
}
