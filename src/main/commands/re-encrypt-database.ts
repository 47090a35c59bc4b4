/** `reseal` as a command: the database of the settings, whose rows the newest of their keys then seals. */
import { readSettings } from '../../settings/read-settings.ts'
import { openEngine } from '../../store/database/open-engine.ts'
import { reEncryptRows, type ReEncryptionProgress } from '../../store/encryption/re-encrypt-rows.ts'
import { createStorageCipher } from '../../store/encryption/cipher.ts'

/** `say` is given a line of progress now and then, and one at the end. */
export async function reEncryptDatabase(
  environment: Readonly<Record<string, unknown>>,
  configFile: unknown,
  say: (line: string) => void,
): Promise<void> {
  const { DATABASE_URL, STORAGE_KEYS } = readSettings(environment, configFile)
  const [newest] = STORAGE_KEYS
  if (newest === undefined)
    throw new Error('STORAGE_KEYS is not set, so there is no key to seal with.')
  const engine = await openEngine(DATABASE_URL)
  try {
    // SQLite leaves what it replaces in the file unless it is told to wipe it out.
    if (engine.language === 'sqlite') await engine.write([WIPE_OUT])
    const done = await reEncryptRows(engine, createStorageCipher(STORAGE_KEYS), (so) =>
      say(`reseal: ${told(so)}`),
    )
    say(`Everything that can be read is sealed with "${newest.kid}": ${told(done)}.`)
  } finally {
    await engine.close()
  }
}

const WIPE_OUT = { name: null, sql: 'pragma secure_delete = on', parameters: [] }

function told({ resealed, unreadable }: ReEncryptionProgress): string {
  return `${resealed} rows sealed, ${unreadable} that no key reads left as they are`
}
