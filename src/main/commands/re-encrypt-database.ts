/**
 * The command `reseal`: encrypts the rows of the configured database again, with the first key of
 * STORAGE_KEYS. Rows that no key decrypts stay unchanged. (The user types `reseal`; the code calls
 * it re-encryption.)
 */
import { readSettings } from '../../settings/read-settings.ts'
import { openEngine } from '../../store/database/open-engine.ts'
import { reEncryptRows, type ReEncryptionProgress } from '../../store/encryption/re-encrypt-rows.ts'
import { createStorageCipher } from '../../store/encryption/cipher.ts'

/**
 * Runs the command `reseal`. `print` is called with each line of progress, and with a final line.
 */
export async function reEncryptDatabase(
  environment: Readonly<Record<string, unknown>>,
  configFile: unknown,
  print: (line: string) => void,
): Promise<void> {
  const { DATABASE_URL, STORAGE_KEYS } = readSettings(environment, configFile)
  const [encryptionKey] = STORAGE_KEYS
  if (encryptionKey === undefined)
    throw new Error('STORAGE_KEYS is not set, so there is no key to encrypt with.')
  const engine = await openEngine(DATABASE_URL)
  try {
    // Makes SQLite overwrite the old text of replaced rows, which would otherwise stay in the file.
    if (engine.language === 'sqlite') await engine.write([ENABLE_SECURE_DELETE])
    const total = await reEncryptRows(engine, createStorageCipher(STORAGE_KEYS), (progress) =>
      print(`reseal: ${formatProgress(progress)}`),
    )
    print(`All readable rows are encrypted with "${encryptionKey.kid}": ${formatProgress(total)}.`)
  } finally {
    await engine.close()
  }
}

const ENABLE_SECURE_DELETE = { name: null, sql: 'pragma secure_delete = on', parameters: [] }

function formatProgress({ reEncryptedCount, unreadableCount }: ReEncryptionProgress): string {
  return `${reEncryptedCount} rows encrypted, ${unreadableCount} rows unchanged because no key decrypts them`
}
