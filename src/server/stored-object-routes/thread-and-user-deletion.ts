/**
 * Routes that immediately delete all stored data of a thread (all turns of a conversation with all
 * of its branches) or of a user, including data that is being written at that moment. A request
 * with a user may delete only that user's data, unless a signed token names an administrator. Nothing of it can be read from the first moment; if there is so much that
 * its deletion takes longer than some seconds, the answer says `in_progress`, and the deletion continues.
 *
 * A chat that the client cloned looks like a branch of the original chat, so the clone's turns are
 * deleted, too. The clone can still be continued: its client sends the complete text.
 */
import { turnIdOfAnswer } from '../../core/turn-derived-ids.ts'
import type { JsonObject } from '../../core/json/json.ts'
import { createNotFoundError } from '../../core/errors/gateway-error.ts'
import { createInvalidFieldError } from '../../dialects/checks/check-json-types.ts'
import { TIMED_OUT, waitWithTimeout } from '../../core/async/wait-with-timeout.ts'
import { queryStoreOrThrow } from '../../store/query-store-or-throw.ts'
import type { AuthenticatedRequest, RouteOptions } from '../authenticate-request.ts'
import { requirePermittedUser, selectOwner } from '../select-owner.ts'
import { findTurnsOfChat } from './find-answers-of-chat.ts'
import { shortenForError, type StoredObjectRoute } from './route-interface.ts'
import type { Ports } from '../../gateway/dependencies-interface.ts'

const FOR_OPERATORS: RouteOptions = { servesAdministrators: true }

export const THREAD_AND_USER_DELETION_ROUTES: readonly StoredObjectRoute[] = [
  { method: 'DELETE', path: '/memory/turns/:id', handle: deleteThread, options: FOR_OPERATORS },
  { method: 'DELETE', path: '/memory/chats/:chat', handle: deleteChat, options: FOR_OPERATORS },
  { method: 'DELETE', path: '/memory/users/:user', handle: deleteUser, options: FOR_OPERATORS },
]

async function deleteThread(
  request: AuthenticatedRequest,
  { deletion, nowMs }: Ports<'deletion' | 'nowMs'>,
) {
  const id = request.getPathParameter('id')
  const turnId = parseTurnId(id)
  const { tenant } = request.caller
  const user = selectDeletableUser(request)
  const result = await waitForDeletion(request, (onProgress) =>
    deletion.deleteThread({ tenant, user, turnId, nowMs: nowMs() }, onProgress),
  )
  if (result.turns === 0 && result.isFinished)
    throw createNotFoundError(`There is no stored answer '${shortenForError(id)}'.`)
  return renderDeletion(result)
}

/**
 * Deletes the threads of all stored answers of a chat, which is named by the client's id for it. A chat has several
 * threads if the user has edited its first question.
 */
async function deleteChat(
  request: AuthenticatedRequest,
  ports: Ports<'answerMessages' | 'deletion' | 'nowMs'>,
) {
  const chat = request.getPathParameter('chat')
  const owner = selectOwner(request)
  const { deletion, nowMs } = ports
  const turnIds = await findTurnsOfChat(chat, owner, ports)
  if (turnIds.length === 0)
    throw createNotFoundError(`Nothing is stored of the chat '${shortenForError(chat)}'.`)
  const result = await waitForDeletion(request, async (onProgress) => {
    let turns = 0
    // The first deletion usually deletes all of them, because they are in one thread.
    for (const turnId of turnIds) {
      const before = turns
      const reportProgress = (deleted: number) => onProgress(before + deleted)
      turns += await deletion.deleteThread({ ...owner, turnId, nowMs: nowMs() }, reportProgress)
    }
    return turns
  })
  return renderDeletion(result)
}

async function deleteUser(
  request: AuthenticatedRequest,
  { deletion, nowMs }: Ports<'deletion' | 'nowMs'>,
) {
  const user = requirePermittedUser(request, request.getPathParameter('user'), 'user')
  const result = await waitForDeletion(request, (onProgress) =>
    deletion.deleteUser(request.caller.tenant, user, nowMs(), onProgress),
  )
  return renderDeletion(result)
}

/** Returns the turn id in any id of an answer (`turnIdOfAnswer`). */
export function parseTurnId(id: string, param = 'id'): string {
  const turnId = turnIdOfAnswer(id)
  if (turnId !== null) return turnId
  const reason = `'${shortenForError(id)}'. Expected the ID of a response ('resp_…'), of a chat completion ('chatcmpl-…'), of a request ('req_…'), or the 20 characters of a marker.`
  throw createInvalidFieldError(param, reason)
}

/** Returns the user whose turns may be deleted; null for those of all users, e.g. for an administrator. */
function selectDeletableUser(request: AuthenticatedRequest): string | null {
  const { isAdministrator, query } = request
  return isAdministrator && !query.has('user') ? null : selectOwner(request).user
}

const MAY_BE_INCOMPLETE =
  'The data may not have been deleted, because the database does not answer. Try again in a moment.'

interface DeletionProgress {
  /** The number of turns that are deleted so far. */
  readonly turns: number
  readonly isFinished: boolean
}

/**
 * Starts a deletion and waits for its end, at most `MAX_WAIT_MS`, because clients wait no longer. The deletion then
 * continues; its data cannot be read meanwhile.
 */
async function waitForDeletion(
  { exchange }: Pick<AuthenticatedRequest, 'exchange'>,
  startDeletion: (onProgress: (turns: number) => void) => Promise<number>,
): Promise<DeletionProgress> {
  let turnsSoFar = 0
  const finished = startDeletion((turns) => (turnsSoFar = turns))
  const turns = await queryStoreOrThrow(
    () => waitWithTimeout(finished, MAX_WAIT_MS),
    MAY_BE_INCOMPLETE,
  )
  if (turns !== TIMED_OUT) return { turns, isFinished: true }
  // If the deletion fails now, another process or a later run continues it.
  exchange.waitUntil(waitWithTimeout(finished.catch(ignore), MAX_WAIT_MS))
  return { turns: turnsSoFar, isFinished: false }
}

const MAX_WAIT_MS = 5_000

function ignore(): void {}

function renderDeletion({ turns, isFinished }: DeletionProgress): JsonObject {
  const state = isFinished ? {} : { in_progress: true }
  return { object: 'memory.deleted', deleted: true, turns, ...state }
}
