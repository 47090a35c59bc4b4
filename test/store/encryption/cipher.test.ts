import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  createStorageCipher,
  type RowLocation,
  type StorageKey,
} from '../../../src/store/encryption/cipher.ts'

const OLD: StorageKey = { kid: 'old', key: new Uint8Array(32).fill(1) }
const NEW: StorageKey = { kid: 'new', key: new Uint8Array(32).fill(2) }
const PLACE: RowLocation = { tenant: 't', turnId: 'A', part: 'out', position: 3 }
const HELLO = '{"text":"hello"}'
const LONG = JSON.stringify('A page of words that repeat, as those of a page do. '.repeat(2_000))

const RINGS: readonly (readonly [string, readonly StorageKey[]])[] = [
  ['without a key', []],
  ['with a key', [NEW]],
  ['with several', [NEW, OLD]],
]

describe.each(RINGS)('%s', (_, keys) => {
  const { seal, unseal } = createStorageCipher(keys)
  const again = (text: string) => unseal(seal(text, PLACE), PLACE)

  test('any JSON is read as it was written', () => {
    fc.assert(
      fc.property(fc.json(), (json) => {
        expect(again(json)).toBe(json)
      }),
    )
  })

  test('so is the JSON of any UTF-16, short and long', () => {
    const text = fc.string({ unit: fc.integer({ min: 0, max: 0xffff }).map(String.fromCharCode) })
    fc.assert(
      fc.property(text, fc.constantFrom(1, 3_000), (text, times) => {
        const json = JSON.stringify(text.repeat(times))
        expect(again(json)).toBe(json)
      }),
    )
  })

  test('so is a text that looks as if it were sealed', () => {
    const looks = fc.constantFrom('z1:', 's1:new:', 'sz1:old:', 's1:', 's', 'z', '')
    fc.assert(
      fc.property(looks, fc.string({ unit: 'binary' }), (beginning, rest) => {
        expect(again(beginning + rest)).toBe(beginning + rest)
      }),
    )
  })

  test('a text keeps to what columns take', () => {
    for (const text of [HELLO, LONG, JSON.stringify('\0\ud800')]) {
      expect(seal(text, PLACE)).toMatch(/^[\x20-\x7e]+$/)
    }
  })
})

describe('without a key', () => {
  const { seal, unseal } = createStorageCipher([])

  test('a text stands there as it is, short or long', () => {
    for (const text of [HELLO, LONG]) expect(seal(text, PLACE)).toBe(text)
  })

  test('nothing that was sealed can be read, and nothing damaged', () => {
    for (const text of [
      createStorageCipher([OLD]).seal(HELLO, PLACE),
      's1:a:',
      'sz1:a:AAAA',
      'z1:AAAA',
      'z1:',
    ]) {
      expect(unseal(text, PLACE)).toBeNull()
    }
  })
})

describe('with a key', () => {
  const { seal, unseal } = createStorageCipher([NEW])

  test('nothing of a text is left to be seen, and it is never sealed alike twice', () => {
    for (const text of [HELLO, LONG]) {
      const sealed = seal(text, PLACE)
      expect(sealed).not.toContain('hello')
      expect(sealed).not.toContain(Buffer.from('hello').toString('base64url').slice(1, -2))
      expect(seal(text, PLACE)).not.toBe(sealed)
    }
  })

  test('a long text takes less room, unless it would not', () => {
    expect(seal(LONG, PLACE).length).toBeLessThan(0.1 * LONG.length)
    const picture = JSON.stringify(Buffer.from(noise(60_000)).toString('base64'))
    expect(seal(picture, PLACE)).toMatch(/^s1:/)
    expect(seal(picture, PLACE).length).toBeLessThan(1.35 * picture.length)
  })

  test('a text that anybody changes cannot be read', () => {
    const { length } = seal(HELLO, PLACE)
    const place = fc.nat(length - 1)
    const char = fc.constantFrom('A', 'Z', 'a', 'z', '0', '9', '-', '_', ':', '{')
    fc.assert(
      fc.property(place, char, fc.constantFrom(HELLO, LONG), (at, char, text) => {
        const sealed = seal(text, PLACE)
        const changed = `${sealed.slice(0, at)}${char}${sealed.slice(at + 1)}`
        const read = unseal(changed, PLACE)
        // What does not look sealed any more is what it says, and no JSON of what was said.
        expect([null, text, /^sz?1:new:/.test(changed) ? null : changed]).toContain(read)
      }),
    )
    expect(unseal(seal(HELLO, PLACE).slice(0, -4), PLACE)).toBeNull()
    expect(unseal(seal(LONG, PLACE).replace('sz1', 's1'), PLACE)).toBeNull()
    expect(unseal(seal(HELLO, PLACE).replace('s1', 'sz1'), PLACE)).toBeNull()
  })

  test('a text in the place of another cannot be read', () => {
    const sealed = seal(HELLO, PLACE)
    const others: readonly Partial<RowLocation>[] = [
      { tenant: 'u' },
      { turnId: 'B' },
      { part: 'in' },
      { position: 4 },
      { tenant: 't","A', turnId: '' },
    ]
    for (const other of others) expect(unseal(sealed, { ...PLACE, ...other })).toBeNull()
    expect(unseal(sealed, PLACE)).toBe(HELLO)
  })

  test('another key of the same name does not read it', () => {
    const other = createStorageCipher([{ ...NEW, key: OLD.key }])
    expect(other.unseal(seal(HELLO, PLACE), PLACE)).toBeNull()
  })

  test('what was not sealed can be read still', () => {
    expect(unseal(HELLO, PLACE)).toBe(HELLO)
    const looksSealed = 's1:new:'
    expect(unseal(createStorageCipher([]).seal(looksSealed, PLACE), PLACE)).toBe(looksSealed)
  })
})

test('a new key in front of the ring seals, and the old ones are still read', () => {
  const before = createStorageCipher([OLD]).seal(HELLO, PLACE)
  const ring = createStorageCipher([NEW, OLD])
  const after = ring.seal(HELLO, PLACE)
  expect([before, after].map((text) => ring.unseal(text, PLACE))).toEqual([HELLO, HELLO])
  expect([before, after].map((text) => createStorageCipher([NEW]).unseal(text, PLACE))).toEqual([
    null,
    HELLO,
  ])
  expect(ring.newest.some((head) => after.startsWith(head))).toBe(true)
  expect(ring.newest.some((head) => before.startsWith(head))).toBe(false)
})

/** The same for every run, and nothing that could be made smaller. */
function noise(length: number): Uint8Array {
  let state = 1
  return Uint8Array.from({ length }, () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state >>> 24
  })
}
