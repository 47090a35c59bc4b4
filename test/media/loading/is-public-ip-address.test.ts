import { BlockList } from 'node:net'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseFetchableUrl, type AllowedHost } from '../../../src/media/loading/check-url-safety.ts'
import { isPublicIpAddress } from '../../../src/media/loading/is-public-ip-address.ts'

/** Node's own check, with the ranges of the IANA registries. */
const refused = new BlockList()
for (const range of [
  '0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24',
  '192.0.2.0/24 192.88.99.0/24 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24',
  '224.0.0.0/4 240.0.0.0/4',
].flatMap((line) => line.split(' '))) {
  const [from = '', bits = ''] = range.split('/')
  refused.addSubnet(from, Number(bits), 'ipv4')
}

const PRIVATE = [
  127 * 2 ** 24 + 1,
  10 * 2 ** 24,
  0xa9fea9fe,
  0xc0a80001,
  0xac100000,
  0,
  2 ** 32 - 1,
]
const address = fc.oneof(fc.constantFrom(...PRIVATE), fc.integer({ min: 0, max: 2 ** 32 - 1 }))

function parts(value: number): readonly number[] {
  return [24, 16, 8, 0].map((shift) => Math.floor(value / 2 ** shift) % 256)
}

function dotted(value: number): string {
  return parts(value).join('.')
}

const NUMBERS: readonly ((value: number) => string)[] = [
  (value) => String(value),
  (value) => `0x${value.toString(16)}`,
  (value) => `0X${value.toString(16).toUpperCase()}`,
  (value) => `0${value.toString(8)}`,
]

/** Generates an address in any of the notations that a URL allows. */
const way = fc.constantFrom(...NUMBERS)
const written = fc
  .tuple(address, fc.array(way, { minLength: 1, maxLength: 4 }))
  .map(([value, ways]) => {
    const first = parts(value).slice(0, ways.length - 1)
    const rest = parts(value)
      .slice(ways.length - 1)
      .reduce((sum, part) => sum * 256 + part, 0)
    const groups = [...first, rest]
    return { value, text: ways.map((write, at) => write(groups[at] ?? 0)).join('.') }
  })

describe('IPv4 addresses that count as public (C84)', () => {
  test('an IPv4 address is public unless a registry reserves it', () => {
    fc.assert(
      fc.property(address, (value) => {
        expect(isPublicIpAddress(dotted(value))).toBe(!refused.check(dotted(value)))
      }),
      { numRuns: 500 },
    )
  })

  test('a private IPv4 address is not public in any notation: decimal, octal, hexadecimal, mixed, short', () => {
    fc.assert(
      fc.property(written, fc.constantFrom('', '.'), ({ value, text }, dot) => {
        const isFetched = parseFetchableUrl(`http://${text}${dot}/a.png`, []) !== null
        expect(isFetched).toBe(!refused.check(dotted(value)))
      }),
      { numRuns: 500 },
    )
  })

  test('an IPv6 address that contains a private IPv4 address is not public', () => {
    const wraps: readonly ((value: number) => string)[] = [
      (value) => `::ffff:${dotted(value)}`,
      (value) => `0:0:0:0:0:FFFF:${dotted(value)}`,
      (value) => `::ffff:${hex(value)}`,
      (value) => `64:ff9b::${dotted(value)}`,
      (value) => `64:ff9b::${hex(value)}`,
    ]
    fc.assert(
      fc.property(address, fc.constantFrom(...wraps), (value, wrap) => {
        expect(isPublicIpAddress(wrap(value))).toBe(!refused.check(dotted(value)))
      }),
      { numRuns: 500 },
    )
    fc.assert(
      fc.property(address, (value) => {
        expect(isPublicIpAddress(`::${dotted(value)}`)).toBe(false)
        expect(isPublicIpAddress(`2002:${hex(value)}::1`)).toBe(false)
        expect(isPublicIpAddress(`64:ff9b:1::${dotted(value)}`)).toBe(false)
      }),
    )
  })
})

function hex(value: number): string {
  const [a, b] = [Math.floor(value / 65_536), value % 65_536]
  return `${a.toString(16)}:${b.toString(16)}`
}

describe('IPv6 addresses that count as public (C84)', () => {
  test.each([
    '::',
    '::1',
    '0:0:0:0:0:0:0:1',
    'fe80::1',
    'fec0::1',
    'fc00::1',
    'fd12:3456::1',
    'ff02::1',
    '100::1',
    '2001::1',
    '2001:db8::1',
    '2002:7f00:1::',
    '3fff::1',
    '5f00::1',
    'fe80::1%eth0',
    'not an address',
    '',
  ])('the IPv6 address %s is not public', (text) => {
    expect(isPublicIpAddress(text)).toBe(false)
  })

  test.each(['2606:4700:4700::1111', '2a00:1450:4001:81b::200e', '2620:fe::fe', '2001:4860::8888'])(
    'the IPv6 address %s is public',
    (text) => {
      expect(isPublicIpAddress(text)).toBe(true)
    },
  )
})

describe('URLs that the gateway may load (C146)', () => {
  test.each([
    'ftp://example.com/a.png',
    'file:///etc/passwd',
    'gopher://example.com/',
    'https://user:secret@example.com/a.png',
    'https://user@example.com/a.png',
    'https://example.com:8443/a.png',
    'http://example.com:443/a.png',
    'http://localhost/a.png',
    'http://LOCALHOST./a.png',
    'http://db/a.png',
    'http://metadata.google.internal/computeMetadata/v1/',
    'http://printer.local/a.png',
    'http://router.home.arpa/',
    'http://[::1]/',
    'http://[::ffff:7f00:1]/',
    'http://①②⑦.0.0.1/',
    'http://127.1/',
    'http://0/',
    'http://%31%32%37.0.0.1/',
    'https://',
    'nonsense',
    `https://example.com/${'a'.repeat(9000)}`,
  ])('the gateway must not load media from %s', (text) => {
    expect(parseFetchableUrl(text, [])).toBeNull()
  })

  test.each(['https://example.com/a.png', 'http://example.com:80/a', 'https://8.8.8.8/a.png'])(
    'the gateway may load media from %s',
    (text) => {
      expect(parseFetchableUrl(text, [])?.href).toBe(new URL(text).href)
    },
  )

  test('the gateway may load media from a private host only on the ports that the operator allows', () => {
    const allowed: readonly AllowedHost[] = [
      { host: '127.0.0.1', port: 9000 },
      { host: 'files.intranet', port: 'default' },
      { host: '[::1]', port: 'any' },
    ]
    const isAsked = (text: string) => parseFetchableUrl(text, allowed) !== null
    expect(isAsked('http://127.0.0.1:9000/a')).toBe(true)
    expect(isAsked('http://2130706433:9000/a')).toBe(true)
    expect(isAsked('http://127.0.0.1:9001/a')).toBe(false)
    expect(isAsked('http://127.0.0.1/a')).toBe(false)
    expect(isAsked('https://files.intranet/a')).toBe(true)
    expect(isAsked('https://files.intranet:1/a')).toBe(false)
    expect(isAsked('http://[::1]:1234/a')).toBe(true)
    expect(isAsked('http://u:p@127.0.0.1:9000/a')).toBe(false)
  })
})
