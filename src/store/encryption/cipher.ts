/**
 * What was said, as it stands in a row: sealed if there is a key. A sealed text can be read with its
 * key only, and only in the place it was written for: nobody who gets at the database can change one,
 * or put it where another belongs. One that is not sealed is believed, for there are those from before.
 *
 * The first key of a ring seals, all of them unseal: a new one is put in front of the old. A text is
 * told by its beginning: `s1:KID:` is sealed, `sz1:KID:` compressed before that, `z1:` compressed only;
 * anything else stands there as it is.
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
  /** The text is well-formed, as JSON always is. */
  readonly seal: (text: string, place: RowLocation) => string
  /** `null` if it is damaged, of another place, or of a key that is not there. */
  readonly unseal: (text: string, place: RowLocation) => string | null
  /** How all begins that the newest key has sealed; empty without keys. */
  readonly newest: readonly string[]
  /** By what texts are named in an index: the newest key first, and last no key at all. */
  readonly namings: readonly TermHasher[]
}

/** The same text has the same name, and from the name nobody without the key gets at the text. */
export interface TermHasher {
  /** Empty without a key: then the text is its own name. */
  readonly kid: string
  readonly name: (text: string) => string
}

export interface StorageKey {
  readonly kid: string
  /** 32 bytes. */
  readonly key: Uint8Array
}

/** Where a text stands, by the columns of its row. */
export interface RowLocation {
  readonly tenant: string
  readonly turnId: string
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
  readonly position: number
}

export function createStorageCipher(keys: readonly StorageKey[]): StorageCipher {
  // A key that is a KeyObject is taken over once, which is half of the time of a short text.
  const ring = new Map(keys.map(({ kid, key }) => [kid, createSecretKey(key)]))
  const kid = keys[0]?.kid ?? ''
  const key = ring.get(kid)
  return {
    newest: key === undefined ? [] : [`s1:${kid}:`, `sz1:${kid}:`],
    namings: [...[...ring].map(namingBy), { kid: '', name: (text) => text }],
    seal(text, place) {
      if (key === undefined) {
        // What looks sealed and is not would be mistaken for it.
        return FORM.test(text) ? `z1:${deflated(text).toString('base64url')}` : text
      }
      const small = compressed(text)
      const head = small === null ? `s1:${kid}:` : `sz1:${kid}:`
      return head + encrypted(small ?? text, key, about(head, place))
    },
    unseal(text, place) {
      const form = FORM.exec(text)
      if (form === null) return text
      const [head, ofKid] = form
      const body = text.slice(head.length)
      try {
        if (ofKid === undefined) return inflateRawSync(bytesOf(body)).toString()
        const opener = ring.get(ofKid)
        if (opener === undefined) return null
        const opened = decrypted(bytesOf(body), opener, about(head, place))
        return (head.startsWith('sz') ? inflateRawSync(opened) : opened).toString()
      } catch {
        return null
      }
    },
  }
}

/** With a key of its own, that is made of the one for sealing. */
function namingBy([kid, key]: readonly [string, KeyObject]): TermHasher {
  const own = createHmac('sha256', key).update('backstory: names in an index').digest()
  const name = (text: string) =>
    createHmac('sha256', own).update(text).digest('base64url').slice(0, NAME_CHARS)
  return { kid, name }
}

const NAME_CHARS = 22

const FORM = /^(?:z1|sz?1:([\w.-]{1,32})):/

function bytesOf(base64: string): Buffer {
  return Buffer.from(base64, 'base64url')
}

/**
 * Shorter, or `null` if that is not worth it. To inflate 2 KB takes several times as long as to parse
 * them, and to deflate them longer still; of 100 KB it takes a millisecond, in which everybody waits,
 * to make up for the third that sealing adds and more. That is why what is not sealed is left as it
 * is. Whether a text gets smaller is told from its middle: a picture of megabytes is not tried.
 */
function compressed(text: string): Buffer | null {
  if (text.length < COMPRESSED_FROM_CHARS) return null
  const middle = text.slice(text.length >>> 1, (text.length >>> 1) + SAMPLE_CHARS)
  return smaller(middle) === null ? null : smaller(text)
}

const COMPRESSED_FROM_CHARS = 16_384
const SAMPLE_CHARS = 4_096

/** By a tenth or more, as it is written: in base64. */
function smaller(text: string): Buffer | null {
  const small = deflated(text)
  return (small.length * 4) / 3 < 0.9 * Buffer.byteLength(text) ? small : null
}

function deflated(text: string): Buffer {
  return deflateRawSync(Buffer.from(text), { level: 1 })
}

const CIPHER = 'aes-256-gcm'
const IV_BYTES = 12
const TAG_BYTES = 16
const WITH_TAG = { authTagLength: TAG_BYTES }

function encrypted(text: string | Buffer, key: KeyObject, associated: Buffer): string {
  const iv = randomBytes(IV_BYTES)
  const cipher = createCipheriv(CIPHER, key, iv, WITH_TAG)
  cipher.setAAD(associated)
  const bytes = typeof text === 'string' ? cipher.update(text, 'utf8') : cipher.update(text)
  return Buffer.concat([iv, bytes, cipher.final(), cipher.getAuthTag()]).toString('base64url')
}

/** Throws if anything is not as it was. */
function decrypted(sealed: Buffer, key: KeyObject, associated: Buffer): Buffer {
  const decipher = createDecipheriv(CIPHER, key, sealed.subarray(0, IV_BYTES), WITH_TAG)
  decipher.setAAD(associated)
  decipher.setAuthTag(sealed.subarray(-TAG_BYTES))
  const bytes = decipher.update(sealed.subarray(IV_BYTES, -TAG_BYTES))
  // A stream's cipher: nothing is left for the end, which is where it says whether all is right.
  decipher.final()
  return bytes
}

/** What is sealed along with a text without being in it. */
function about(head: string, { tenant, turnId, part, position }: RowLocation): Buffer {
  return Buffer.from(JSON.stringify([head, tenant, turnId, part, position]))
}
