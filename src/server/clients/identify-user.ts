/**
 * Identifies the user of a request. With `OPEN_WEBUI_JWT_SECRET`, only the token that Open WebUI
 * signed identifies a user. Without it, unsigned headers do if the operator sets
 * `TRUST_USER_HEADERS=on`.
 *
 * With a secret, a token is required on every route that uses stored data. If it were optional, an
 * Open WebUI that is not configured to sign would silently share one memory between all of its
 * users. Other routes (models, embeddings, speech) need no token, because Open WebUI lists the
 * models without a user when it starts. They still reject an invalid token, so that Open WebUI's
 * "Verify connection" reports it.
 */
import { GatewayError } from '../../core/errors/gateway-error.ts'
import type { Settings } from '../../settings/read-settings.ts'
import { readOptionalHeader } from './read-optional-header.ts'
import { verifyOpenWebUiJwt, type TokenFault } from './verify-open-webui-jwt.ts'

export type UserIdentitySettings = Pick<Settings, 'OPEN_WEBUI_JWT_SECRET' | 'TRUST_USER_HEADERS'>

export interface UserIdentityContext {
  readonly nowMs: number
  /** True if the request may read or store conversation data. */
  readonly usesStoredData: boolean
  /** True if an administrator may use the route for data of other users. */
  readonly servesAdministrators?: boolean
}

export interface RequestUser {
  /** Null if the request names no user. */
  readonly id: string | null
  /** True if the signed token names an administrator. Unsigned headers make none. */
  readonly isAdministrator: boolean
}

export function identifyUser(
  headers: Headers,
  { OPEN_WEBUI_JWT_SECRET: secret, TRUST_USER_HEADERS: trust }: UserIdentitySettings,
  { nowMs, usesStoredData, servesAdministrators = false }: UserIdentityContext,
): RequestUser {
  if (secret !== null) {
    const token = readOptionalHeader(headers, USER_TOKEN_HEADER)
    if (token === null) {
      if (usesStoredData) throw createTokenError(servesAdministrators ? 'operator' : 'missing')
      return NO_USER
    }
    const verified = verifyOpenWebUiJwt(token, secret, nowMs)
    if (verified.fault !== null) throw createTokenError(verified.fault)
    return { id: checkLength(verified.user), isAdministrator: verified.isAdministrator }
  }
  if (trust === 'off') return NO_USER
  const user =
    readOptionalHeader(headers, 'x-backstory-user') ??
    readOptionalHeader(headers, 'x-openwebui-user-id')
  return { id: checkLength(user), isAdministrator: false }
}

const NO_USER: RequestUser = { id: null, isAdministrator: false }

/** Rejects a user id that is too long, because it becomes part of database keys. */
function checkLength(user: string | null): string | null {
  if (user === null || user.length <= MAX_CHARS) return user
  const message = `The id of a user has at most ${MAX_CHARS} characters, and this one has ${user.length}.`
  throw new GatewayError('invalid_value', message)
}

const MAX_CHARS = 256

const USER_TOKEN_HEADER = 'x-openwebui-user-jwt'

type IdentityFault = TokenFault | 'missing' | 'operator'

const ERROR_MESSAGES: Readonly<Record<IdentityFault, string>> = {
  missing:
    'OPEN_WEBUI_JWT_SECRET is set, but the request has no signed user token. Give Open WebUI the same secret as FORWARD_USER_INFO_HEADER_JWT_SECRET, and set ENABLE_FORWARD_USER_INFO_HEADERS=true there.',
  operator:
    'OPEN_WEBUI_JWT_SECRET is set, so the data of a user can be deleted and explained only with a signed token. Send it as X-OpenWebUI-User-Jwt: the token of that user or of an administrator, i.e. a JSON Web Token with `iss: "open-webui"`, `role: "admin"`, `sub` (any id) and `exp`, signed with that secret (HS256).',
  forged:
    'The signed user token (X-OpenWebUI-User-Jwt) is not valid. FORWARD_USER_INFO_HEADER_JWT_SECRET of Open WebUI must be the same text as OPEN_WEBUI_JWT_SECRET of this gateway.',
  early:
    'The signed user token (X-OpenWebUI-User-Jwt) is not valid yet. Compare the clocks of Open WebUI and of this gateway.',
  expired:
    'The signed user token (X-OpenWebUI-User-Jwt) has expired. Compare the clocks of Open WebUI and of this gateway.',
}

function createTokenError(fault: IdentityFault): GatewayError {
  return new GatewayError('invalid_user_signature', ERROR_MESSAGES[fault])
}
