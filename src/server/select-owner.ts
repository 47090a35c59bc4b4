/**
 * Selects the owner of the stored data that a request reads or deletes: the caller, or the user in `?user=`. Only an
 * administrator with a signed token, or a client that sends no user at all, may name another user than its own. The
 * data always belongs to the API key of the request.
 */
import type { Caller } from '../core/client/caller.ts'
import { GatewayError } from '../core/errors/gateway-error.ts'
import type { AuthenticatedRequest } from './authenticate-request.ts'

export function selectOwner(
  request: Pick<AuthenticatedRequest, 'caller' | 'isAdministrator' | 'query'>,
): Caller {
  const { caller, query } = request
  const user = query.get('user')
  return user === null ? caller : { ...caller, user: requirePermittedUser(request, user, 'user') }
}

/** Returns `user`. Throws an error with status 403 if the request must not use this user's data. */
export function requirePermittedUser(
  { caller, isAdministrator }: Pick<AuthenticatedRequest, 'caller' | 'isAdministrator'>,
  user: string,
  param: string,
): string {
  if (isAdministrator || caller.user === null || caller.user === user) return user
  const message =
    'You can use only the stored data of your own user. That of other users needs the signed token of an administrator of Open WebUI (X-OpenWebUI-User-Jwt with `role: "admin"`).'
  throw new GatewayError('insufficient_permissions', message, { param })
}
