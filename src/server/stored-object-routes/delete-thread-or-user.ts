/**
 * Forgetting at once what is remembered of a conversation, or of a user. There is no way back, so what
 * is still on its way goes as well. Who comes with a user of its own may forget only itself.
 *
 * A conversation goes with all of its branches. A chat that was cloned is a branch like one that was
 * regenerated, and nobody could tell them apart: rather does a clone lose what it shares (it goes on
 * with its text) than something of a chat stay that somebody wanted gone.
 */
import { responseId, turnIdOfCompletion, turnIdOfResponse } from '../../core/turn-derived-ids.ts'
import type { JsonObject } from '../../core/json/json.ts'
import { GatewayError, createNotFoundError } from '../../core/errors/gateway-error.ts'
import { queryStoreOrThrow } from '../../store/query-store-or-throw.ts'
import {
  shortenForError,
  type StoredObjectRoute,
  type StoredObjectRequest,
} from './route-interface.ts'

export const THREAD_AND_USER_DELETION_ROUTES: readonly StoredObjectRoute[] = [
  {
    method: 'DELETE',
    path: '/memory/turns/:id',
    async answer(asked, { recall, nowMs }) {
      const id = asked.named('id')
      const turnId = parseTurnId(id)
      const { tenant, user } = asked.caller
      const forget = () => recall.forgetThread({ tenant, user, turnId, nowMs: nowMs() })
      const turns = await queryStoreOrThrow(forget, NOT_CERTAIN)
      if (turns === 0)
        throw createNotFoundError(`Nothing is remembered of '${shortenForError(id)}'.`)
      return told(turns)
    },
  },
  {
    method: 'DELETE',
    path: '/memory/users/:user',
    async answer(asked, { recall, nowMs }) {
      const user = userIn(asked)
      const { tenant } = asked.caller
      return told(
        await queryStoreOrThrow(() => recall.forgetUser(tenant, user, nowMs()), NOT_CERTAIN),
      )
    },
  },
]

/** Everything that a client sees of a turn is named after it. */
export function parseTurnId(id: string, param = 'id'): string {
  const turnId = turnIdOfResponse(id) ?? turnIdOfCompletion(id) ?? turnIdOfResponse(responseId(id))
  if (turnId !== null) return turnId
  throw new GatewayError(
    'invalid_value',
    `Invalid '${param}': '${shortenForError(id)}'. Expected the ID of a response ('resp_…'), of a chat completion ('chatcmpl-…'), or the 20 characters of a marker.`,
    { param },
  )
}

function userIn({ named, caller }: StoredObjectRequest): string {
  const user = named('user')
  if (caller.user === null || caller.user === user) return user
  throw new GatewayError(
    'insufficient_permissions',
    'You can only forget what is remembered of yourself.',
    { param: 'user' },
  )
}

const NOT_CERTAIN =
  'It is not certain that anything was forgotten, because the database does not answer. Ask again in a moment.'

function told(turns: number): JsonObject {
  return { object: 'memory.deleted', deleted: true, turns }
}
