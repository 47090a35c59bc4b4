/** Responses that are kept: read, deleted, and asked for what they were made of. */
import { turnIdOfResponse } from '../../core/turn-derived-ids.ts'
import { GatewayError, notFound } from '../../core/errors/gateway-error.ts'
import type { StoredTurn } from '../../store/turns/turn-store-interface.ts'
import type { World } from '../../gateway/dependencies-interface.ts'
import { listedItems } from './list-turn-items.ts'
import { listOf, pageOf, pagingIn } from './paging.ts'
import {
  includeIn,
  shortened,
  withPrefix,
  type ResourceRequest,
  type Resource,
} from './route-interface.ts'
import { responseOf } from '../../gateway/respond/render-stored-response.ts'

export const RESPONSES: readonly Resource[] = [
  {
    method: 'GET',
    path: '/responses/:id',
    async answer(asked, { archive }) {
      if (asked.query.get('stream') === 'true') return null
      const { id, turnId } = idIn(asked)
      const turn = await archive.loadTurn(asked.caller, turnId)
      return responseOf(known(turn, id), includeIn(asked.query))
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
      const paging = pagingIn(asked.query, 'desc')
      const items = listedItems(await chainIn(asked, world), 'question', includeIn(asked.query))
      const { entries, hasMore } = pageOf(items, paging)
      return listOf(
        entries.map(({ show }) => show()),
        hasMore,
      )
    },
  },
]

function idIn({ named }: ResourceRequest): { readonly id: string; readonly turnId: string } {
  const id = withPrefix(named('id'), 'resp', 'response_id')
  const turnId = turnIdOfResponse(id)
  if (turnId === null) throw responseNotFound(id)
  return { id, turnId }
}

async function chainIn(asked: ResourceRequest, { store }: World): Promise<readonly StoredTurn[]> {
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
  return notFound(`Response with id '${shortened(id)}' not found.`)
}

function stillRunning(): GatewayError {
  return new GatewayError(
    'invalid_value',
    'Cannot delete an in-flight response. Cancel it, or wait until it is over.',
    { param: 'response_id' },
  )
}
