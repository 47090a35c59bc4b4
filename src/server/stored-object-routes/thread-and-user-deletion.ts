/**
 * Routes that immediately delete all stored data of a thread (all turns of a conversation with all
 * of its branches) or of a user, including data that is being written at that moment. A request
 * with a user may delete only that user's data.
 *
 * A chat that the client cloned looks like a branch of the original chat, so the clone's turns are
 * deleted, too. The clone can still be continued: its client sends the complete text.
 */
import { responseId, turnIdOfCompletion, turnIdOfResponse } from '../../core/turn-derived-ids.ts'
import type { JsonObject } from '../../core/json/json.ts'
import { GatewayError, createNotFoundError } from '../../core/errors/gateway-error.ts'
import { createInvalidFieldError } from '../../dialects/checks/check-json-types.ts'
import { queryStoreOrThrow } from '../../store/query-store-or-throw.ts'
import type { AuthenticatedRequest } from '../authenticate-request.ts'
import { shortenForError, type StoredObjectRoute } from './route-interface.ts'
import type { Ports } from '../../gateway/dependencies-interface.ts'

export const THREAD_AND_USER_DELETION_ROUTES: readonly StoredObjectRoute[] = [
  { method: 'DELETE', path: '/memory/turns/:id', handle: deleteThread },
  { method: 'DELETE', path: '/memory/users/:user', handle: deleteUser },
]

async function deleteThread(
  request: AuthenticatedRequest,
  { deletion, nowMs }: Ports<'deletion' | 'nowMs'>,
) {
  const id = request.getPathParameter('id')
  const turnId = parseTurnId(id)
  const { tenant, user } = request.caller
  const deleteStoredTurns = () => deletion.deleteThread({ tenant, user, turnId, nowMs: nowMs() })
  const turns = await queryStoreOrThrow(deleteStoredTurns, MAY_BE_INCOMPLETE)
  if (turns === 0) throw createNotFoundError(`Nothing is remembered of '${shortenForError(id)}'.`)
  return renderDeletion(turns)
}

async function deleteUser(
  request: AuthenticatedRequest,
  { deletion, nowMs }: Ports<'deletion' | 'nowMs'>,
) {
  const user = readPermittedUser(request)
  const deleteStoredData = () => deletion.deleteUser(request.caller.tenant, user, nowMs())
  return renderDeletion(await queryStoreOrThrow(deleteStoredData, MAY_BE_INCOMPLETE))
}

/**
 * Returns the turn id that a response id (`resp_…`), a chat completion id (`chatcmpl-…`) or a
 * marker of 20 characters contains.
 */
export function parseTurnId(id: string, param = 'id'): string {
  const turnId = turnIdOfResponse(id) ?? turnIdOfCompletion(id) ?? turnIdOfResponse(responseId(id))
  if (turnId !== null) return turnId
  const reason = `'${shortenForError(id)}'. Expected the ID of a response ('resp_…'), of a chat completion ('chatcmpl-…'), or the 20 characters of a marker.`
  throw createInvalidFieldError(param, reason)
}

function readPermittedUser({ getPathParameter, caller }: AuthenticatedRequest): string {
  const user = getPathParameter('user')
  if (caller.user === null || caller.user === user) return user
  const message = 'You can only delete the stored data of your own user.'
  throw new GatewayError('insufficient_permissions', message, { param: 'user' })
}

const MAY_BE_INCOMPLETE =
  'The data may not have been deleted, because the database does not answer. Try again in a moment.'

function renderDeletion(turns: number): JsonObject {
  return { object: 'memory.deleted', deleted: true, turns }
}
