/**
 * Verifies the JSON Web Token with which Open WebUI identifies a user. The token is signed with
 * HMAC-SHA-256 and a secret that Open WebUI and the gateway share. A token that names another
 * algorithm is rejected, so that no client can choose a weaker one, and so is a token with an
 * extension that must be understood (`crit`), as RFC 7515 requires.
 */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { isObject, tryParseJsonObject } from '../../core/json/json.ts'

export type TokenVerification =
  | { readonly user: string; readonly isAdministrator: boolean; readonly fault: null }
  | { readonly user: null; readonly fault: TokenFault }

/**
 * The reason why a token is invalid. `expired` and `early` are reasons of their own, because the
 * operator then has to correct a clock instead of the secret.
 */
export type TokenFault = 'forged' | 'expired' | 'early'

/** Allowed difference between the clocks of the two machines. */
const CLOCK_TOLERANCE_MS = 60_000
const ISSUER = 'open-webui'

const FORGED: TokenVerification = { user: null, fault: 'forged' }
const EXPIRED: TokenVerification = { user: null, fault: 'expired' }
const EARLY: TokenVerification = { user: null, fault: 'early' }

export function verifyOpenWebUiJwt(
  token: string,
  secret: string,
  nowMs: number,
): TokenVerification {
  const parts = token.split('.')
  const [head = '', claims = '', signature = ''] = parts
  if (
    parts.length !== 3 ||
    !parts.every(isBase64Url) ||
    !isSigned(`${head}.${claims}`, signature, secret)
  )
    return FORGED
  const header = decodeJson(head)
  const { iss, sub, exp, role, nbf = 0 } = decodeJson(claims) ?? {}
  if (!isObject(header) || header['alg'] !== 'HS256' || iss !== ISSUER) return FORGED
  if ('crit' in header || typeof nbf !== 'number') return FORGED
  if (typeof sub !== 'string' || sub === '' || typeof exp !== 'number') return FORGED
  if (nbf * 1000 - CLOCK_TOLERANCE_MS > nowMs) return EARLY
  if (exp * 1000 + CLOCK_TOLERANCE_MS < nowMs) return EXPIRED
  // Open WebUI's roles are `pending`, `user` and `admin`.
  return { user: sub, isAdministrator: role === 'admin', fault: null }
}

/**
 * False for a text with other characters. The decoder would skip them, so several texts would mean
 * the same token.
 */
function isBase64Url(text: string): boolean {
  return Buffer.from(text, 'base64url').toString('base64url') === text
}

function isSigned(content: string, signature: string, secret: string): boolean {
  const expected = createHmac('sha256', secret).update(content).digest()
  const actual = Buffer.from(signature, 'base64url')
  return actual.length === expected.length && timingSafeEqual(actual, expected)
}

/** Returns null for bytes that are no UTF-8: a replaced character would give two users the same id. */
function decodeJson(part: string) {
  try {
    return tryParseJsonObject(utf8.decode(Buffer.from(part, 'base64url')))
  } catch {
    return null
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true })
