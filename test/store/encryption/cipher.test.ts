import { createCipheriv } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  createStorageCipher,
  type RowLocation,
  type StorageKey,
} from '../../../src/store/encryption/cipher.ts'

const OLD: StorageKey = { kid: 'old', key: new Uint8Array(32).fill(1) }
const NEW: StorageKey = { kid: 'new', key: new Uint8Array(32).fill(2) }
const PLACE: RowLocation = {
  tenant: 't',
  user: 'u',
  rowId: 'A',
  part: 'out',
  position: 3,
}
const HELLO = '{"text":"hello"}'
const LONG = JSON.stringify('A page of words that repeat, as those of a page do. '.repeat(2_000))

const RINGS: readonly (readonly [string, readonly StorageKey[]])[] = [
  ['without a key', []],
  ['with a key', [NEW]],
  ['with several keys', [NEW, OLD]],
]

describe.each(RINGS)('texts that a storage cipher %s encrypts and decrypts', (_, keys) => {
  const { encrypt, decrypt } = createStorageCipher(keys)
  const again = (text: string) => decrypt(encrypt(text, PLACE), PLACE)

  test('any JSON text is decrypted to the original', () => {
    fc.assert(
      fc.property(fc.json(), (json) => {
        expect(again(json)).toBe(json)
      }),
    )
  })

  test('any UTF-16 text, short or long, is decrypted to the original', () => {
    const text = fc.string({ unit: fc.integer({ min: 0, max: 0xffff }).map(String.fromCharCode) })
    fc.assert(
      fc.property(text, fc.constantFrom(1, 3_000), (text, times) => {
        const json = JSON.stringify(text.repeat(times))
        expect(again(json)).toBe(json)
      }),
    )
  })

  test('a text that looks as if it were encrypted is decrypted to the original', () => {
    const looks = fc.constantFrom('z1:', 's2:new:', 's1:new:', 'sz1:old:', 's1:', 's', 'z', '')
    fc.assert(
      fc.property(looks, fc.string({ unit: 'binary' }), (beginning, rest) => {
        expect(again(beginning + rest)).toBe(beginning + rest)
      }),
    )
  })

  test('an encrypted text contains only characters that columns accept', () => {
    for (const text of [HELLO, LONG, JSON.stringify('\0\ud800')]) {
      expect(encrypt(text, PLACE)).toMatch(/^[\x20-\x7e]+$/)
    }
  })
})

describe('storage cipher without a key', () => {
  const { encrypt, decrypt } = createStorageCipher([])

  test('without a key, a short or long text is stored unencrypted and uncompressed', () => {
    for (const text of [HELLO, LONG]) expect(encrypt(text, PLACE)).toBe(text)
  })

  test('without a key, an encrypted or damaged text is decrypted to null', () => {
    for (const text of [
      createStorageCipher([OLD]).encrypt(HELLO, PLACE),
      's1:a:',
      'sz1:a:AAAA',
      'z1:AAAA',
      'z1:',
    ]) {
      expect(decrypt(text, PLACE)).toBeNull()
    }
  })
})

describe('storage cipher with a key', () => {
  const { encrypt, decrypt } = createStorageCipher([NEW])

  test('with a key, the ciphertext of a text does not contain the text, and differs each time', () => {
    for (const text of [HELLO, LONG]) {
      const ciphertext = encrypt(text, PLACE)
      expect(ciphertext).not.toContain('hello')
      expect(ciphertext).not.toContain(Buffer.from('hello').toString('base64url').slice(1, -2))
      expect(encrypt(text, PLACE)).not.toBe(ciphertext)
    }
  })

  test('with a key, a long text is compressed if that makes it much shorter', () => {
    expect(encrypt(LONG, PLACE).length).toBeLessThan(0.1 * LONG.length)
    const picture = JSON.stringify(Buffer.from(noise(60_000)).toString('base64'))
    expect(encrypt(picture, PLACE)).toMatch(/^s2:/)
    expect(encrypt(picture, PLACE).length).toBeLessThan(1.35 * picture.length)
  })

  test('with a key, a changed ciphertext is decrypted to null', () => {
    const { length } = encrypt(HELLO, PLACE)
    const place = fc.nat(length - 1)
    const char = fc.constantFrom('A', 'Z', 'a', 'z', '0', '9', '-', '_', ':', '{')
    fc.assert(
      fc.property(place, char, fc.constantFrom(HELLO, LONG), (at, char, text) => {
        const ciphertext = encrypt(text, PLACE)
        const changed = `${ciphertext.slice(0, at)}${char}${ciphertext.slice(at + 1)}`
        const read = decrypt(changed, PLACE)
        // A text whose prefix was destroyed is returned unchanged; it is no valid JSON.
        expect([null, text, /^sz?[12]:new:/.test(changed) ? null : changed]).toContain(read)
      }),
    )
    expect(decrypt(encrypt(HELLO, PLACE).slice(0, -4), PLACE)).toBeNull()
    expect(decrypt(encrypt(LONG, PLACE).replace('sz2', 's2'), PLACE)).toBeNull()
    expect(decrypt(encrypt(HELLO, PLACE).replace('s2', 'sz2'), PLACE)).toBeNull()
  })

  test('with a key, a ciphertext that was moved to another row is decrypted to null', () => {
    const ciphertext = encrypt(HELLO, PLACE)
    const others: readonly Partial<RowLocation>[] = [
      { tenant: 'v' },
      { user: 'v' },
      { user: '' },
      { rowId: 'B' },
      { part: 'in' },
      { position: 4 },
      { tenant: 't","u', user: 'A', rowId: '' },
    ]
    for (const other of others) expect(decrypt(ciphertext, { ...PLACE, ...other })).toBeNull()
    expect(decrypt(ciphertext, PLACE)).toBe(HELLO)
  })

  test('with another key of the same id, a ciphertext is decrypted to null', () => {
    const other = createStorageCipher([{ ...NEW, key: OLD.key }])
    expect(other.decrypt(encrypt(HELLO, PLACE), PLACE)).toBeNull()
  })

  test('with a key, a plain text can still be read', () => {
    expect(decrypt(HELLO, PLACE)).toBe(HELLO)
    const looksSealed = 's1:new:'
    expect(decrypt(createStorageCipher([]).encrypt(looksSealed, PLACE), PLACE)).toBe(looksSealed)
  })
})

describe('texts of an earlier version, which are not bound to a user', () => {
  const earlier = encryptLikeEarlierVersion(HELLO)

  test('a text of an earlier version can be decrypted for any user', () => {
    const { decrypt } = createStorageCipher([NEW])
    expect(decrypt(earlier, PLACE)).toBe(HELLO)
    expect(decrypt(earlier, { ...PLACE, user: 'v' })).toBe(HELLO)
    expect(decrypt(earlier, { ...PLACE, rowId: 'B' })).toBeNull()
  })

  test('a text of an earlier version counts as one that has to be encrypted again', () => {
    const { currentPrefixes } = createStorageCipher([NEW])
    expect(currentPrefixes.some((head) => earlier.startsWith(head))).toBe(false)
  })

  test('once everything is encrypted, neither plain texts nor those of an earlier version are trusted', () => {
    const strict = createStorageCipher([NEW], () => false)
    for (const text of [earlier, HELLO, createStorageCipher([]).encrypt('s2:new:', PLACE)]) {
      expect(strict.decrypt(text, PLACE)).toBeNull()
      expect(strict.explainFailure(text)).toEqual({ why: 'not-trusted' })
    }
    expect(strict.decrypt(strict.encrypt(HELLO, PLACE), PLACE)).toBe(HELLO)
    expect(createStorageCipher([], () => false).decrypt(HELLO, PLACE)).toBe(HELLO)
  })
})

test('the failure of a decryption names the missing key', () => {
  const { encrypt } = createStorageCipher([OLD])
  const { explainFailure } = createStorageCipher([NEW])
  expect(explainFailure(encrypt(HELLO, PLACE))).toEqual({ why: 'key-missing', kid: 'old' })
  expect(explainFailure('s2:new:AAAA')).toEqual({ why: 'damaged' })
})

function encryptLikeEarlierVersion(text: string): string {
  const head = `s1:${NEW.kid}:`
  const iv = Buffer.alloc(12, 1)
  const cipher = createCipheriv('aes-256-gcm', NEW.key, iv)
  const { tenant, rowId, part, position } = PLACE
  cipher.setAAD(Buffer.from(JSON.stringify([head, tenant, rowId, part, position])))
  const bytes = Buffer.concat([iv, cipher.update(text), cipher.final(), cipher.getAuthTag()])
  return head + bytes.toString('base64url')
}

test('the first of several keys encrypts, and all keys decrypt', () => {
  const before = createStorageCipher([OLD]).encrypt(HELLO, PLACE)
  const ring = createStorageCipher([NEW, OLD])
  const after = ring.encrypt(HELLO, PLACE)
  expect([before, after].map((text) => ring.decrypt(text, PLACE))).toEqual([HELLO, HELLO])
  expect([before, after].map((text) => createStorageCipher([NEW]).decrypt(text, PLACE))).toEqual([
    null,
    HELLO,
  ])
  expect(ring.currentPrefixes.some((head) => after.startsWith(head))).toBe(true)
  expect(ring.currentPrefixes.some((head) => before.startsWith(head))).toBe(false)
})

/** Returns the same bytes in every run. They cannot be compressed. */
function noise(length: number): Uint8Array {
  let state = 1
  return Uint8Array.from({ length }, () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state >>> 24
  })
}
