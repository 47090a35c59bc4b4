/**
 * Decides which web pages may call the gateway from a browser. (Open WebUI does so for connections
 * that its users add.) With API keys, every page may: only a request with a key is served, and
 * cookies are never read. Without keys, only pages of this machine may; `rejectForeignPages`
 * rejects the others.
 */
import { isLocalWebPage } from '../runtime/is-loopback-address.ts'

export type CorsHeaders = Readonly<Record<string, string>>

/**
 * Creates the CORS headers. Returns null if the request does not come from a web page, or if the
 * page may not read the response.
 */
export function createCorsHeaders(origin: string | null, hasKeys: boolean): CorsHeaders | null {
  if (origin === null) return null
  if (hasKeys) return { 'access-control-allow-origin': '*', ...EXPOSE_ALL_HEADERS }
  if (!isLocalWebPage(origin)) return null
  return { 'access-control-allow-origin': origin, vary: 'Origin', ...EXPOSE_ALL_HEADERS }
}

const EXPOSE_ALL_HEADERS = { 'access-control-expose-headers': '*' }

/** Answers a browser's preflight request (`OPTIONS`); returns null for any other request. */
export function respondToPreflight(
  { method, headers }: Pick<Request, 'method' | 'headers'>,
  corsHeaders: CorsHeaders,
): Response | null {
  if (method !== 'OPTIONS' || !headers.has('access-control-request-method')) return null
  const requested = (headers.get('access-control-request-headers') ?? '').toLowerCase().split(',')
  const allowed = requested.map((name) => name.trim()).filter((name) => ALLOWED_HEADERS.test(name))
  return new Response(null, {
    status: 204,
    headers: {
      ...corsHeaders,
      'access-control-allow-methods': 'GET, POST, DELETE, OPTIONS',
      // The headers are listed by name, because a wildcard does not include `Authorization`.
      'access-control-allow-headers': ['authorization', 'content-type', ...allowed].join(', '),
      'access-control-max-age': '7200',
    },
  })
}

/**
 * Matches request headers that a web page may send: the gateway's own, `idempotency-key`, and those
 * of OpenAI's SDK in a browser, e.g. `x-stainless-os`. A key may also be sent as `x-api-key`.
 */
const ALLOWED_HEADERS = /^(?:(?:x-backstory|x-stainless|openai)-[a-z-]+|idempotency-key|x-api-key)$/
