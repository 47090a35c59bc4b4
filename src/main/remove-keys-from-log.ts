/** Removes all configured keys from the texts of log lines. */
import type { Log } from '../core/ports/log-interface.ts'
import type { Settings } from '../settings/read-settings.ts'
import { listAccounts } from '../upstream/accounts-and-model-routing.ts'
import { createKeyRemover, listAccountKeys } from '../upstream/errors/remove-keys.ts'

export function removeKeysFromLog(log: Log, settings: Settings): Log {
  const removeKeys = createKeyRemover(listConfiguredKeys(settings))
  return (level, event, fields = {}) => {
    const entries = Object.entries(fields).map(([name, value]) => [
      name,
      typeof value === 'string' ? removeKeys(value) : value,
    ])
    log(level, event, Object.fromEntries(entries))
  }
}

function listConfiguredKeys(settings: Settings): readonly string[] {
  const { BACKSTORY_KEYS, OPEN_WEBUI_JWT_SECRET, STORAGE_KEYS } = settings
  return [
    ...listAccounts(settings).flatMap(listAccountKeys),
    ...BACKSTORY_KEYS.map(({ key }) => key),
    ...STORAGE_KEYS.flatMap(({ key }) => [
      Buffer.from(key).toString('base64'),
      Buffer.from(key).toString('hex'),
    ]),
    ...(OPEN_WEBUI_JWT_SECRET === null ? [] : [OPEN_WEBUI_JWT_SECRET]),
  ]
}
