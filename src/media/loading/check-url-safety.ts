/**
 * What may be asked for over the network on behalf of a client, as far as its address tells: no
 * credentials, no ports of other services, no names and no numbers of this network. What a name
 * stands for is looked at again when it is connected to.
 */
import { classifyIpLiteral } from './is-public-ip-address.ts'

/** A host that may be asked whatever it is: `port` of `null` for those of its scheme. */
export interface AllowedHost {
  readonly host: string
  readonly port: string | null
}

/** Whether a text names something by an address of any kind. */
export function hasUrlScheme(text: string): boolean {
  return /^\s*[a-z][a-z\d+.-]*:/i.test(text)
}

/**
 * Whether an upstream may be told to load it: one that stands in this network would ask for it from
 * within. Ports are its own affair; what parsers read in several ways is not passed on.
 */
export function isPublicUrl(text: string, allowed: readonly AllowedHost[]): boolean {
  const url = AMBIGUOUS.test(text) ? null : webUrl(text)
  return url !== null && (isAllowedHost(url, allowed) || isPublicHost(url.hostname))
}

/** Some see a host in front of a backslash and some behind it; some leave out what is not printed. */
// oxlint-disable-next-line no-control-regex
const AMBIGUOUS = /[\\\u0000-\u001f\u007f]/

/** `null` if it must not be asked for. */
export function parseFetchableUrl(text: string, allowed: readonly AllowedHost[]): URL | null {
  const url = webUrl(text)
  if (url === null || isAllowedHost(url, allowed)) return url
  // The parser leaves out a port that is the scheme's own.
  return url.port === '' && isPublicHost(url.hostname) ? url : null
}

/** Without credentials. */
function webUrl(text: string): URL | null {
  const url = text.length > MAX_CHARS ? null : URL.parse(text)
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:')) return null
  return url.username === '' && url.password === '' ? url : null
}

/** No server takes longer ones, and some of them are remembered. */
const MAX_CHARS = 8192

/** Whether the operator has named it, so that its addresses need not be public. */
export function isAllowedHost({ hostname, port }: URL, allowed: readonly AllowedHost[]): boolean {
  return allowed.some(
    (one) => one.host === hostname && (one.port === '*' || (one.port ?? '') === port),
  )
}

function isPublicHost(hostname: string): boolean {
  const literal = classifyIpLiteral(hostname)
  return literal === null ? !isInternalName(hostname) : literal === 'public'
}

/** Names that are of one network only: single words, and endings that the world has none of. */
function isInternalName(hostname: string): boolean {
  const name = hostname.endsWith('.') ? hostname.slice(0, -1) : hostname
  const ending = name.slice(name.lastIndexOf('.') + 1)
  return ending === name || INTERNAL.has(ending) || name.endsWith('.home.arpa')
}

const INTERNAL = new Set([
  'localhost',
  'local',
  'localdomain',
  'internal',
  'intranet',
  'lan',
  'home',
  'corp',
  'private',
  'test',
  'invalid',
  'onion',
])
