import { expect, test } from 'vitest'
import { removeKeysFromLog } from '../../src/main/remove-keys-from-log.ts'
import { readSettings } from '../../src/settings/read-settings.ts'

test('no log line has a configured key, whatever it was configured for', () => {
  const storageKey = Buffer.alloc(32, 7).toString('base64')
  const keys = {
    OPENAI_API_KEY: 'sk-openai-0123456789',
    OPEN_WEBUI_JWT_SECRET: 'jwt-secret-0123456789',
    BACKSTORY_KEYS: 'ada:client-key-0123456789',
    STORAGE_KEYS: `k1:${storageKey}`,
  }
  const lines: unknown[] = []
  const log = removeKeysFromLog((...line) => lines.push(line), readSettings(keys, {}))
  const why = `${keys.OPENAI_API_KEY} ${keys.OPEN_WEBUI_JWT_SECRET} client-key-0123456789 ${storageKey}`
  log('warn', 'upstream-failed', { upstream: 'openai', why, count: 3 })
  const removed = Array<string>(4).fill('[key removed]').join(' ')
  expect(lines).toEqual([
    ['warn', 'upstream-failed', { upstream: 'openai', why: removed, count: 3 }],
  ])
})
