/**
 * Whether an address is one of the open Internet. Everything that is not is refused: this host, its
 * neighbours, the provider's own services, and what only wraps such an address in another.
 *
 * The many ways to write an address (`0x7f.1`, `2130706433`, `::ffff:127.0.0.1`) are read by the URL
 * parser of the platform, which is the one that goes on to connect.
 */
export function isPublicIpAddress(text: string): boolean {
  const host = URL.parse(`http://${text.includes(':') ? `[${text}]` : text}/`)?.hostname
  return host !== undefined && classifyIpLiteral(host) === 'public'
}

/** What a host of a parsed URL is; `null` for a name. */
export function classifyIpLiteral(host: string): 'public' | 'private' | null {
  if (host.startsWith('[')) return isPublic6(groupsOf(host.slice(1, -1))) ? 'public' : 'private'
  // A host that ends in a number is an IPv4 address to the parser, or no host at all.
  if (!/^\d+\.\d+\.\d+\.\d+$/.test(host)) return null
  return isPublic4(numberOf(host.split('.').map(Number))) ? 'public' : 'private'
}

type Range = readonly [from: string, bits: number]

/** https://www.iana.org/assignments/iana-ipv4-special-registry */
const NOT_PUBLIC: readonly Range[] = [
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

const BLOCKS = NOT_PUBLIC.map(([from, bits]) => ({
  from: numberOf(from.split('.').map(Number)),
  size: 2 ** (32 - bits),
}))

function numberOf(parts: readonly number[]): number {
  return parts.reduce((sum, part) => sum * 256 + part, 0)
}

function isPublic4(address: number): boolean {
  return !BLOCKS.some(({ from, size }) => address >= from && address < from + size)
}

/** As the parser writes them: hexadecimal groups, the longest run of zeros left out. */
function groupsOf(text: string): readonly number[] {
  const [head = '', tail] = text.split('::')
  const [before, behind] = [hexOf(head), hexOf(tail ?? '')]
  const zeros = tail === undefined ? 0 : 8 - before.length - behind.length
  return [...before, ...Array<number>(zeros).fill(0), ...behind]
}

function hexOf(text: string): readonly number[] {
  return text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16))
}

/** https://www.iana.org/assignments/iana-ipv6-special-registry */
function isPublic6(groups: readonly number[]): boolean {
  const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = groups
  const embedded = g * 65_536 + h
  const zeros = c + d + e
  // `::ffff:0:0/96` is IPv4 in other words, and `64:ff9b::/96` the way to it from IPv6 only.
  if (a + b + zeros === 0 && f === 0xffff) return isPublic4(embedded)
  if (a === 0x64 && b === 0xff9b && zeros + f === 0) return isPublic4(embedded)
  // All that is handed out to the world.
  if (a < 0x2000 || a > 0x3fff) return false
  // Tunnels (Teredo, 6to4) and names of things, documentation.
  if (a === 0x2001 && (b < 0x200 || b === 0xdb8)) return false
  return a !== 0x2002 && !(a === 0x3fff && b < 0x1000)
}
