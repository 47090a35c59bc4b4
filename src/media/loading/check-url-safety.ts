/**
 * Decides from the URL alone whether the gateway may load it for a client. Rejects credentials,
 * ports other than the scheme's default, internal names and private IP addresses. The IP addresses
 * of a name are checked again on connect.
 */
import { classifyIpLiteral } from './is-public-ip-address.ts'

/** A host that the operator allows, and its port; `default` is the default port of the scheme. */
export interface AllowedHost {
  readonly host: string
  readonly port: number | 'default' | 'any'
}

/** True for text that starts with a URL scheme, e.g. `https:` or `data:`. */
export function hasUrlScheme(text: string): boolean {
  return /^\s*[a-z][a-z\d+.-]*:/i.test(text)
}

/**
 * True if the URL may be sent to an upstream. Private URLs may not, because an upstream in the same
 * network could load them. URLs that parsers read differently may not either. Any port is allowed.
 */
export function isPublicUrl(text: string, allowed: readonly AllowedHost[]): boolean {
  const url = AMBIGUOUS_CHARS.test(text) ? null : parseWebUrl(text)
  return url !== null && (isAllowedHost(url, allowed) || isPublicHost(url.hostname))
}

/**
 * Characters that URL parsers read differently: with a backslash they disagree on the host, and
 * some drop control characters.
 */
// oxlint-disable-next-line no-control-regex
const AMBIGUOUS_CHARS = /[\\\u0000-\u001f\u007f]/

/** Returns the parsed URL, or `null` if the gateway must not load it. */
export function parseFetchableUrl(text: string, allowed: readonly AllowedHost[]): URL | null {
  const url = parseWebUrl(text)
  if (url === null || isAllowedHost(url, allowed)) return url
  // The parser sets `port` to `''` for the scheme's default port.
  return url.port === '' && isPublicHost(url.hostname) ? url : null
}

/**
 * Parses an HTTP or HTTPS URL; `null` for other schemes, for URLs with credentials, and for hosts with an
 * empty part: some resolvers read `127.0.0.1..` as an address.
 */
function parseWebUrl(text: string): URL | null {
  const url = text.length > MAX_URL_CHARS ? null : URL.parse(text)
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:')) return null
  if (url.hostname.includes('..')) return null
  return url.username === '' && url.password === '' ? url : null
}

/** Maximum length of a URL. Most servers reject longer URLs anyway. */
const MAX_URL_CHARS = 8192

/** True if the operator allows the host (`MEDIA_FETCH_ALLOW`), even with private IP addresses. */
export function isAllowedHost(
  { hostname, port, protocol }: URL,
  allowed: readonly AllowedHost[],
): boolean {
  // The parser removes the port from `http://files.intranet:80/`.
  const usedPort = port === '' ? DEFAULT_PORTS[protocol] : Number(port)
  return allowed.some(
    (allowedHost) =>
      allowedHost.host === hostname &&
      (allowedHost.port === 'any' ||
        (allowedHost.port === 'default' ? port === '' : allowedHost.port === usedPort)),
  )
}

const DEFAULT_PORTS: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 }

function isPublicHost(hostname: string): boolean {
  const literal = classifyIpLiteral(hostname)
  return literal === null ? !isInternalName(hostname) : literal === 'public'
}

/**
 * True for names that exist only in a private network: names without a dot, and reserved top-level
 * domains, e.g. `nas.local`.
 */
function isInternalName(hostname: string): boolean {
  const name = hostname.endsWith('.') ? hostname.slice(0, -1) : hostname
  const ending = name.slice(name.lastIndexOf('.') + 1)
  return ending === name || INTERNAL_DOMAINS.has(ending) || name.endsWith('.home.arpa')
}

const INTERNAL_DOMAINS = new Set([
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
