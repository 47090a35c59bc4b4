/**
 * Which of a client's users asks. With a secret, that is who Open WebUI's signature says, and nobody
 * else. Without one, headers that anybody could write are believed only where the operator says so.
 *
 * With a secret a signature must be there wherever something may be remembered: were it only looked
 * at when it comes, an Open WebUI that was not told to sign would share one memory between all of its
 * users, and nobody would notice. Where nothing is remembered (the list of models, embeddings, speech)
 * none is asked for, since Open WebUI fetches the list on its own behalf as well, when it starts; but
 * a bad one is refused there too, because "Verify connection" fetches it, and shall tell.
 */
import { GatewayError } from '../../core/errors/gateway-error.ts'
import type { Settings } from '../../settings/read-settings.ts'
import { readOptionalHeader } from './read-optional-header.ts'
import { verifyOpenWebUiJwt, type IdentityFault } from './verify-open-webui-jwt.ts'

export type UserIdentitySettings = Pick<Settings, 'OPEN_WEBUI_JWT_SECRET' | 'TRUST_USER_HEADERS'>

export interface UserIdentityContext {
  readonly nowMs: number
  /** Whether what is asked may depend on what is remembered, or be remembered itself. */
  readonly isRemembered: boolean
}

export function identifyUser(
  headers: Headers,
  { OPEN_WEBUI_JWT_SECRET: secret, TRUST_USER_HEADERS: trust }: UserIdentitySettings,
  { nowMs, isRemembered }: UserIdentityContext,
): string | null {
  if (secret !== null) {
    const token = readOptionalHeader(headers, SIGNED)
    if (token === null) {
      if (isRemembered) throw refused('missing')
      return null
    }
    const { user, fault } = verifyOpenWebUiJwt(token, secret, nowMs)
    if (fault !== null) throw refused(fault)
    return short(user)
  }
  if (trust === 'off') return null
  return short(
    readOptionalHeader(headers, 'x-backstory-user') ??
      readOptionalHeader(headers, 'x-openwebui-user-id'),
  )
}

/** What is kept is looked up by it. */
function short(user: string | null): string | null {
  if (user === null || user.length <= MAX_CHARS) return user
  throw new GatewayError(
    'invalid_value',
    `The name of a user has at most ${MAX_CHARS} characters, and this one has ${user.length}.`,
  )
}

const MAX_CHARS = 256

const SIGNED = 'x-openwebui-user-jwt'

const WHAT_TO_DO: Readonly<Record<IdentityFault | 'missing', string>> = {
  missing:
    'No signed user came with the request, and OPEN_WEBUI_JWT_SECRET is set. Give Open WebUI the same secret as FORWARD_USER_INFO_HEADER_JWT_SECRET, and set ENABLE_FORWARD_USER_INFO_HEADERS=true there.',
  forged:
    'The signature of the user (X-OpenWebUI-User-Jwt) does not hold. FORWARD_USER_INFO_HEADER_JWT_SECRET of Open WebUI must be the same text as OPEN_WEBUI_JWT_SECRET of this gateway.',
  expired:
    'The signature of the user (X-OpenWebUI-User-Jwt) has expired. Compare the clocks of Open WebUI and of this gateway.',
}

function refused(fault: IdentityFault | 'missing'): GatewayError {
  return new GatewayError('invalid_user_signature', WHAT_TO_DO[fault])
}
