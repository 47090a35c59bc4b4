/**
 * The command `reseal`: encrypts the rows of the configured database again, with the first key of
 * STORAGE_KEYS. Rows that no key decrypts stay unchanged. (The user types `reseal`; the code calls
 * it re-encryption.)
 */
import { readSettings } from '../../settings/read-settings.ts'
import { openEngine } from '../../store/database/open-engine.ts'
import { reEncryptRows, type ReEncryptionProgress } from '../../store/encryption/re-encrypt-rows.ts'
import { createStorageCipher } from '../../store/encryption/cipher.ts'
import { flagAllEncrypted, loadOldFormatState } from '../../store/encryption/old-format-rule.ts'

/**
 * Runs the command `reseal`. `print` is called with each line of progress, and with a final line.
 */
export async function reEncryptDatabase(
  environment: Readonly<Record<string, unknown>>,
  configFile: unknown,
  print: (line: string) => void,
): Promise<void> {
  const { DATABASE_URL, STORAGE_KEYS, STORAGE_PLAIN_TEXT } = readSettings(environment, configFile)
  const [encryptionKey] = STORAGE_KEYS
  if (encryptionKey === undefined)
    throw new Error('STORAGE_KEYS is not set, so there is no key to encrypt with.')
  const engine = await openEngine(DATABASE_URL)
  try {
    const state = await loadOldFormatState(engine, STORAGE_PLAIN_TEXT, true)
    const cipher = createStorageCipher(STORAGE_KEYS, () => state.trustsOldFormats)
    const total = await reEncryptRows(engine, cipher, (progress) =>
      print(`reseal: ${formatProgress(progress)}`),
    )
    if (total.unreadableCount === 0) await flagAllEncrypted(engine)
    // The files still contain copies of the replaced texts.
    await engine.eraseDeleted?.()
    print(`All readable rows are encrypted with "${encryptionKey.kid}": ${formatProgress(total)}.`)
    print(total.unreadableCount === 0 ? ALL_ENCRYPTED : NOT_ALL_ENCRYPTED)
  } finally {
    await engine.close()
  }
}

const ALL_ENCRYPTED =
  'Text that is not encrypted is no longer trusted. Restart every replica with STORAGE_PLAIN_TEXT=reject, so that this holds even if the flag in the database is deleted.'
const NOT_ALL_ENCRYPTED =
  'Some rows could not be decrypted, so text that is not encrypted is trusted or rejected as before. They may need an older key, or STORAGE_PLAIN_TEXT=accept.'

function formatProgress({ reEncryptedCount, unreadableCount }: ReEncryptionProgress): string {
  return `${reEncryptedCount} rows encrypted, ${unreadableCount} rows unchanged because no key decrypts them`
}
