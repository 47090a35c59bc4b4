/**
 * Decides whether an IP address is public. All others are rejected: this host, its network, the
 * hosting provider's internal services, and IPv6 addresses that embed such an address.
 *
 * The platform's URL parser normalizes the notations of an address (`0x7f.1`, `2130706433`,
 * `::ffff:127.0.0.1`). The same parser is used for the connection, so both see one address.
 */
export function isPublicIpAddress(text: string): boolean {
  const host = URL.parse(`http://${text.includes(':') ? `[${text}]` : text}/`)?.hostname
  return host !== undefined && classifyIpLiteral(host) === 'public'
}

/**
 * Returns whether the host of a parsed URL is a public or a private IP address, or `null` for a
 * name such as `example.com`.
 */
export function classifyIpLiteral(host: string): 'public' | 'private' | null {
  if (host.startsWith('['))
    return isPublicIpv6(parseIpv6Groups(host.slice(1, -1))) ? 'public' : 'private'
  // The URL parser turns every host that ends in a number into dotted IPv4, or rejects it.
  if (!/^\d+\.\d+\.\d+\.\d+$/.test(host)) return null
  return isPublicIpv4(combineBytes(host.split('.').map(Number))) ? 'public' : 'private'
}

type AddressRange = readonly [from: string, bits: number]

/**
 * Address ranges that are not public, as address and prefix length. See
 * https://www.iana.org/assignments/iana-ipv4-special-registry.
 */
const NON_PUBLIC_RANGES: readonly AddressRange[] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
]

const NON_PUBLIC_BLOCKS = NON_PUBLIC_RANGES.map(([from, bits]) => ({
  from: combineBytes(from.split('.').map(Number)),
  size: 2 ** (32 - bits),
}))

function combineBytes(parts: readonly number[]): number {
  return parts.reduce((sum, part) => sum * 256 + part, 0)
}

function isPublicIpv4(address: number): boolean {
  return !NON_PUBLIC_BLOCKS.some(({ from, size }) => address >= from && address < from + size)
}

/** Expands an IPv6 address in the URL parser's form, e.g. `2001:db8::1`, into 8 numbers. */
function parseIpv6Groups(text: string): readonly number[] {
  const [head = '', tail] = text.split('::')
  const [before, after] = [parseHexGroups(head), parseHexGroups(tail ?? '')]
  const zeros = tail === undefined ? 0 : 8 - before.length - after.length
  return [...before, ...Array<number>(zeros).fill(0), ...after]
}

function parseHexGroups(text: string): readonly number[] {
  return text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16))
}

/**
 * True if the IPv6 address is public. See
 * https://www.iana.org/assignments/iana-ipv6-special-registry.
 */
function isPublicIpv6(groups: readonly number[]): boolean {
  const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = groups
  const embedded = g * 65_536 + h
  const zeros = c + d + e
  // `::ffff:0:0/96` and `64:ff9b::/96` embed an IPv4 address in the last 32 bits.
  if (a + b + zeros === 0 && f === 0xffff) return isPublicIpv4(embedded)
  if (a === 0x64 && b === 0xff9b && zeros + f === 0) return isPublicIpv4(embedded)
  // Only `2000::/3` is allocated for public use.
  if (a < 0x2000 || a > 0x3fff) return false
  // `2001::/23` (Teredo, ORCHID), `2001:db8::/32` and `3fff::/20` (documentation), and `2002::/16`
  // (6to4) are not public.
  if (a === 0x2001 && (b < 0x200 || b === 0xdb8)) return false
  return a !== 0x2002 && !(a === 0x3fff && b < 0x1000)
}
