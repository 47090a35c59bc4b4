/**
 * Which web pages may talk to the gateway out of a browser: Open WebUI does so where a user adds a
 * connection of their own. With keys every page may, for the key is what counts and no cookie is ever
 * looked at. Without keys only pages of this very machine may, which `rejectForeignPages` holds.
 */
import { isLoopbackAddress } from '../runtime/is-loopback-address.ts'

export type CorsHeaders = Readonly<Record<string, string>>

/** The headers of an answer to that page; `null` where it is no page, or may not read the answer. */
export function createCorsHeaders(origin: string | null, hasKeys: boolean): CorsHeaders | null {
  if (origin === null) return null
  if (hasKeys) return { 'access-control-allow-origin': '*', ...READABLE }
  if (!URL.canParse(origin) || !isLoopbackAddress(new URL(origin).host)) return null
  return { 'access-control-allow-origin': origin, vary: 'Origin', ...READABLE }
}

const READABLE = { 'access-control-expose-headers': '*' }

/** The answer to a browser that asks before it asks; `null` for any other request. */
export function respondToPreflight(
  { method, headers }: Pick<Request, 'method' | 'headers'>,
  sharing: CorsHeaders,
): Response | null {
  if (method !== 'OPTIONS' || !headers.has('access-control-request-method')) return null
  const wanted = (headers.get('access-control-request-headers') ?? '').toLowerCase().split(',')
  const granted = wanted.map((name) => name.trim()).filter((name) => MAY_SEND.test(name))
  return new Response(null, {
    status: 204,
    headers: {
      ...sharing,
      'access-control-allow-methods': 'GET, POST, DELETE, OPTIONS',
      // A wildcard would leave `Authorization` out.
      'access-control-allow-headers': ['authorization', 'content-type', ...granted].join(', '),
      'access-control-max-age': '7200',
    },
  })
}

/** Our own, and what OpenAI's SDK adds in a browser. */
const MAY_SEND = /^(?:x-backstory|x-stainless|openai)-[a-z-]+$/
