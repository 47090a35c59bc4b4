/** Responses that are kept: read, deleted, and asked for what they were made of. */
import { turnIdOfResponse } from '../../core/turn-derived-ids.ts'
import { GatewayError, createNotFoundError } from '../../core/errors/gateway-error.ts'
import type { StoredTurn } from '../../store/turns/turn-store-interface.ts'
import type { GatewayDependencies } from '../../gateway/dependencies-interface.ts'
import { listTurnItems } from './list-turn-items.ts'
import { renderList, cutPage, readPaging } from './paging.ts'
import {
  readInclude,
  shortenForError,
  requireIdPrefix,
  type StoredObjectRequest,
  type StoredObjectRoute,
} from './route-interface.ts'
import { renderStoredResponse } from '../../gateway/respond/render-stored-response.ts'

export const RESPONSE_ROUTES: readonly StoredObjectRoute[] = [
  {
    method: 'GET',
    path: '/responses/:id',
    async answer(asked, { archive }) {
      if (asked.query.get('stream') === 'true') return null
      const { id, turnId } = idIn(asked)
      const turn = await archive.loadTurn(asked.caller, turnId)
      return renderStoredResponse(known(turn, id), readInclude(asked.query))
    },
  },
  {
    method: 'DELETE',
    path: '/responses/:id',
    async answer(asked, { archive, nowMs }) {
      const { id, turnId } = idIn(asked)
      const deletion = { ...asked.caller, turnId, dialect: 'responses', nowMs: nowMs() }
      const came = await archive.deleteTurn(deletion)
      if (came === 'unknown') throw responseNotFound(id)
      if (came === 'running') throw stillRunning()
      return { id, object: 'response', deleted: true }
    },
  },
  {
    method: 'GET',
    path: '/responses/:id/input_items',
    async answer(asked, world) {
      const paging = readPaging(asked.query, 'desc')
      const items = listTurnItems(await chainIn(asked, world), 'question', readInclude(asked.query))
      const { entries, hasMore } = cutPage(items, paging)
      return renderList(
        entries.map(({ show }) => show()),
        hasMore,
      )
    },
  },
]

function idIn({ named }: StoredObjectRequest): { readonly id: string; readonly turnId: string } {
  const id = requireIdPrefix(named('id'), 'resp', 'response_id')
  const turnId = turnIdOfResponse(id)
  if (turnId === null) throw responseNotFound(id)
  return { id, turnId }
}

async function chainIn(
  asked: StoredObjectRequest,
  { store }: GatewayDependencies,
): Promise<readonly StoredTurn[]> {
  const { id, turnId } = idIn(asked)
  const chain = await store.loadChain(asked.caller, turnId)
  known(chain?.at(-1) ?? null, id)
  return chain ?? []
}

/** What was said in a chat is no response, though it is kept alike. */
function known(turn: StoredTurn | null, id: string): StoredTurn {
  if (turn === null || turn.dialect !== 'responses' || turn.deletedAtMs !== null) {
    throw responseNotFound(id)
  }
  return turn
}

function responseNotFound(id: string): GatewayError {
  return createNotFoundError(`Response with id '${shortenForError(id)}' not found.`)
}

function stillRunning(): GatewayError {
  return new GatewayError(
    'invalid_value',
    'Cannot delete an in-flight response. Cancel it, or wait until it is over.',
    { param: 'response_id' },
  )
}
