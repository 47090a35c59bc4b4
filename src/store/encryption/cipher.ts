/**
 * Encrypts texts for storage with AES-256-GCM. An encrypted text can be decrypted only with its key
 * and only for its own row and user: an attacker who can write to the database can neither change a
 * text nor move it to another row or user. Texts that are not encrypted, or not bound to their user,
 * may be older than the keys or this version. They are accepted until everything is encrypted
 * (`old-format-rule.ts`).
 *
 * The first key encrypts, and all keys decrypt. To change the key, an operator adds a new one
 * before the old ones. The prefix of a stored text shows its format: `s2:KID:` is encrypted with
 * the key KID, `sz2:KID:` compressed and encrypted, `z1:` only compressed; a text without a prefix
 * is plain. Earlier versions wrote `s1:KID:` and `sz1:KID:`, which are not bound to a user.
 */
import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  randomBytes,
  type KeyObject,
} from 'node:crypto'
import { deflateRawSync, inflateRawSync } from 'node:zlib'

export interface StorageCipher {
  /** Encrypts a text, which must be well-formed Unicode (JSON always is). */
  readonly encrypt: (text: string, location: RowLocation) => string
  /**
   * Decrypts a text. Returns `null` if it is damaged, was moved from another row or user, its key is
   * missing, or it has a format that is no longer trusted.
   */
  readonly decrypt: (text: string, location: RowLocation) => string | null
  /** Explains why `decrypt` returned `null` for the text. */
  readonly explainFailure: (text: string) => DecryptionFailure
  /** Prefixes of texts that the first key has encrypted, e.g. `s2:2027:`; empty without keys. */
  readonly currentPrefixes: readonly string[]
  /**
   * Hashers of search terms: one for each key, in the order of the keys, and last one without a
   * key.
   */
  readonly termHashers: readonly TermHasher[]
}

/**
 * `not-trusted`: the text is not encrypted, or not bound to its user, although all texts should be.
 * `damaged`: the text was changed, or moved from another row or user.
 */
export type DecryptionFailure =
  | { readonly why: 'key-missing'; readonly kid: string }
  | { readonly why: 'not-trusted' | 'damaged' }

/**
 * Hashes search terms for an index. Equal terms have equal hashes. Hashes can be computed only with
 * the key, so the database does not reveal the terms.
 */
export interface TermHasher {
  /** Id of the key. Empty for the hasher without a key, whose `hash` returns the term itself. */
  readonly keyId: string
  readonly hash: (text: string) => string
}

export interface StorageKey {
  readonly kid: string
  /** The key for AES-256, 32 bytes. */
  readonly key: Uint8Array
}

/**
 * The row and column that a text belongs to. Decrypting fails if the text was moved to another
 * location.
 */
export interface RowLocation {
  readonly tenant: string
  /** The user that the row belongs to; empty if it belongs to none, as media do. */
  readonly user: string
  /** Id of the turn that the text belongs to, or of its own row, e.g. of a fact or a summary. */
  readonly rowId: string
  readonly part:
    | 'in'
    | 'out'
    | 'request'
    | 'failure'
    | 'events'
    | 'context'
    | 'summary'
    | 'about'
    | 'body'
    | 'copies'
    | 'items'
    | 'media'
    | 'layer'
    | 'fact'
    | TextName
  readonly position: number
}

/** Names a long text that is stored in pieces, within its turn: its part and position, e.g. `out-3`. */
export type TextName = `${'in' | 'out' | 'request' | 'events'}-${number}`

/**
 * Returns the location of a text that is the only text of its part in the row, and so has position
 * 0.
 */
export function locateText(
  { tenant, user }: Pick<RowLocation, 'tenant' | 'user'>,
  rowId: string,
  part: RowLocation['part'],
): RowLocation {
  return { tenant, user, rowId, part, position: 0 }
}

/** `trustsOldFormats`: true while texts that are not encrypted, or not bound to a user, are accepted. */
export function createStorageCipher(
  keys: readonly StorageKey[],
  trustsOldFormats: () => boolean = () => true,
): StorageCipher {
  // Imports the keys once: for a short text, importing a key on each call would take half of the
  // time.
  const keyObjects = new Map(keys.map(({ kid, key }) => [kid, createSecretKey(key)]))
  const kid = keys[0]?.kid ?? ''
  const key = keyObjects.get(kid)
  const isTrusted = (version: string | undefined): boolean =>
    version === CURRENT_VERSION || key === undefined || trustsOldFormats()
  return {
    currentPrefixes: key === undefined ? [] : [`s2:${kid}:`, `sz2:${kid}:`],
    termHashers: [...[...keyObjects].map(createTermHasher), { keyId: '', hash: (text) => text }],
    encrypt(text, location) {
      if (key === undefined) {
        // Compresses a plain text that looks encrypted, so that decrypting returns it instead of
        // rejecting it.
        return STORED_FORMAT.test(text) ? `z1:${deflate(text).toString('base64url')}` : text
      }
      const compressed = compressIfWorthwhile(text)
      const head = compressed === null ? `s2:${kid}:` : `sz2:${kid}:`
      return head + encryptBytes(compressed ?? text, key, encodeLocation(head, location))
    },
    decrypt(text, location) {
      const match = STORED_FORMAT.exec(text)
      if (!isTrusted(match?.[1])) return null
      if (match === null) return text
      const [head, , textKid] = match
      const body = text.slice(head.length)
      try {
        if (textKid === undefined) return inflateRawSync(decodeBase64(body)).toString()
        const textKey = keyObjects.get(textKid)
        if (textKey === undefined) return null
        const bytes = decryptBytes(decodeBase64(body), textKey, encodeLocation(head, location))
        return (head.startsWith('sz') ? inflateRawSync(bytes) : bytes).toString()
      } catch {
        return null
      }
    },
    explainFailure(text) {
      const [, version, textKid] = STORED_FORMAT.exec(text) ?? []
      if (textKid !== undefined && !keyObjects.has(textKid))
        return { why: 'key-missing', kid: textKid }
      return { why: isTrusted(version) ? 'damaged' : 'not-trusted' }
    },
  }
}

/** Creates a hasher. Its key is derived from the encryption key. */
function createTermHasher([kid, key]: readonly [string, KeyObject]): TermHasher {
  const hashKey = createHmac('sha256', key).update('backstory: names in an index').digest()
  const hash = (text: string) =>
    createHmac('sha256', hashKey).update(text).digest('base64url').slice(0, TERM_HASH_CHARS)
  return { keyId: kid, hash }
}

const TERM_HASH_CHARS = 22

const STORED_FORMAT = /^(?:z1|sz?([12]):([\w.-]{1,32})):/
const CURRENT_VERSION = '2'

function decodeBase64(base64: string): Buffer {
  return Buffer.from(base64, 'base64url')
}

/**
 * Returns the compressed text, or `null` if compression is not worthwhile. Short texts are not
 * compressed, because inflating 2 KB takes several times as long as parsing it. Only texts that
 * will be encrypted are compressed, because encryption makes them a third longer. Tries the middle
 * of the text first, so that an image of several megabytes is not compressed in vain.
 */
function compressIfWorthwhile(text: string): Buffer | null {
  if (text.length < COMPRESSED_FROM_CHARS) return null
  const middle = text.slice(text.length >>> 1, (text.length >>> 1) + SAMPLE_CHARS)
  return compressIfSmaller(middle) === null ? null : compressIfSmaller(text)
}

const COMPRESSED_FROM_CHARS = 16_384
const SAMPLE_CHARS = 4_096

/** Returns the compressed text if, in base64, it is at least a tenth shorter. */
function compressIfSmaller(text: string): Buffer | null {
  const compressed = deflate(text)
  return (compressed.length * 4) / 3 < 0.9 * Buffer.byteLength(text) ? compressed : null
}

function deflate(text: string): Buffer {
  return deflateRawSync(Buffer.from(text), { level: 1 })
}

const CIPHER = 'aes-256-gcm'
const IV_BYTES = 12
const TAG_BYTES = 16
const TAG_OPTIONS = { authTagLength: TAG_BYTES }

function encryptBytes(text: string | Buffer, key: KeyObject, associated: Buffer): string {
  const iv = randomBytes(IV_BYTES)
  const cipher = createCipheriv(CIPHER, key, iv, TAG_OPTIONS)
  cipher.setAAD(associated)
  const bytes = typeof text === 'string' ? cipher.update(text, 'utf8') : cipher.update(text)
  return Buffer.concat([iv, bytes, cipher.final(), cipher.getAuthTag()]).toString('base64url')
}

/** Decrypts bytes. Throws if the ciphertext or its location was changed. */
function decryptBytes(ciphertext: Buffer, key: KeyObject, associated: Buffer): Buffer {
  const decipher = createDecipheriv(CIPHER, key, ciphertext.subarray(0, IV_BYTES), TAG_OPTIONS)
  decipher.setAAD(associated)
  decipher.setAuthTag(ciphertext.subarray(-TAG_BYTES))
  const bytes = decipher.update(ciphertext.subarray(IV_BYTES, -TAG_BYTES))
  // Verifies the tag. `final` returns no bytes, because GCM is a stream cipher.
  decipher.final()
  return bytes
}

/**
 * Returns the data that AES-GCM authenticates besides the text, so that the text can be decrypted
 * only for its own row, user and format.
 */
function encodeLocation(head: string, location: RowLocation): Buffer {
  const { tenant, user, rowId, part, position } = location
  const isBoundToUser = head.startsWith('s2:') || head.startsWith('sz2:')
  const owner = isBoundToUser ? [tenant, user] : [tenant]
  return Buffer.from(JSON.stringify([head, ...owner, rowId, part, position]))
}
