/**
 * Verifies the JSON Web Token with which Open WebUI identifies a user. The token is signed with
 * HMAC-SHA-256 and a secret that Open WebUI and the gateway share. A token that names another
 * algorithm is rejected, so that no client can choose a weaker one.
 */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { isObject, tryParseJsonObject } from '../../core/json/json.ts'

export type TokenVerification =
  | { readonly user: string; readonly fault: null }
  | { readonly user: null; readonly fault: TokenFault }

/**
 * The reason why a token is invalid. `expired` is a reason of its own, because the operator then
 * has to correct a clock instead of the secret.
 */
export type TokenFault = 'forged' | 'expired'

/** Allowed difference between the clocks of the two machines. */
const CLOCK_TOLERANCE_MS = 60_000
const ISSUER = 'open-webui'

const FORGED: TokenVerification = { user: null, fault: 'forged' }
const EXPIRED: TokenVerification = { user: null, fault: 'expired' }

export function verifyOpenWebUiJwt(
  token: string,
  secret: string,
  nowMs: number,
): TokenVerification {
  const parts = token.split('.')
  const [head = '', claims = '', signature = ''] = parts
  if (parts.length !== 3 || !isSigned(`${head}.${claims}`, signature, secret)) return FORGED
  const header = decodeJson(head)
  const { iss, sub, exp } = decodeJson(claims) ?? {}
  if (!isObject(header) || header['alg'] !== 'HS256' || iss !== ISSUER) return FORGED
  if (typeof sub !== 'string' || sub === '' || typeof exp !== 'number') return FORGED
  return exp * 1000 + CLOCK_TOLERANCE_MS < nowMs ? EXPIRED : { user: sub, fault: null }
}

function isSigned(content: string, signature: string, secret: string): boolean {
  const expected = createHmac('sha256', secret).update(content).digest()
  const actual = Buffer.from(signature, 'base64url')
  return actual.length === expected.length && timingSafeEqual(actual, expected)
}

function decodeJson(part: string) {
  return tryParseJsonObject(Buffer.from(part, 'base64url').toString())
}
