/**
 * The signed identity that Open WebUI sends along: a JSON Web Token, signed with HMAC and SHA-256
 * under a secret that it shares with this gateway. The algorithm is fixed, whatever a token says of
 * itself, so that none can choose a weaker one.
 */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { isObject, tryParseJsonObject } from '../../core/json/json.ts'

export type VerifiedIdentity =
  | { readonly user: string; readonly fault: null }
  | { readonly user: null; readonly fault: IdentityFault }

/** `expired` is told apart because a wrong clock is mended elsewhere than a wrong secret. */
export type IdentityFault = 'forged' | 'expired'

/** Clocks of two machines are never quite the same. */
const LEEWAY_MS = 60_000
const ISSUER = 'open-webui'

const FORGED: VerifiedIdentity = { user: null, fault: 'forged' }
const EXPIRED: VerifiedIdentity = { user: null, fault: 'expired' }

export function verifyOpenWebUiJwt(token: string, secret: string, nowMs: number): VerifiedIdentity {
  const parts = token.split('.')
  const [head = '', claims = '', signature = ''] = parts
  if (parts.length !== 3 || !isSigned(`${head}.${claims}`, signature, secret)) return FORGED
  const header = decoded(head)
  const { iss, sub, exp } = decoded(claims) ?? {}
  if (!isObject(header) || header['alg'] !== 'HS256' || iss !== ISSUER) return FORGED
  if (typeof sub !== 'string' || sub === '' || typeof exp !== 'number') return FORGED
  return exp * 1000 + LEEWAY_MS < nowMs ? EXPIRED : { user: sub, fault: null }
}

function isSigned(signed: string, signature: string, secret: string): boolean {
  const expected = createHmac('sha256', secret).update(signed).digest()
  const given = Buffer.from(signature, 'base64url')
  return given.length === expected.length && timingSafeEqual(given, expected)
}

function decoded(part: string) {
  return tryParseJsonObject(Buffer.from(part, 'base64url').toString())
}
