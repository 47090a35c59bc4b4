/** Reads stored responses. The routes here delete them and list their input items. */
import { isTurnUnfinished } from '../../background/is-turn-unfinished.ts'
import type { JsonObject } from '../../core/json/json.ts'
import { turnIdOfResponse } from '../../core/turn-derived-ids.ts'
import { GatewayError, createNotFoundError } from '../../core/errors/gateway-error.ts'
import type { StoredTurn } from '../../store/turns/turn-store-interface.ts'
import { loadLastTurn, renderItemPage } from './chain-items.ts'
import { readPaging } from './paging.ts'
import {
  readInclude,
  shortenForError,
  requireIdPrefix,
  type StoredObjectRoute,
} from './route-interface.ts'
import type { AuthenticatedRequest } from '../authenticate-request.ts'
import { renderStoredResponse } from '../../gateway/respond/render-stored-response.ts'
import type { Ports } from '../../gateway/dependencies-interface.ts'

export const RESPONSE_ROUTES: readonly StoredObjectRoute[] = [
  { method: 'DELETE', path: '/responses/:id', handle: deleteResponse },
  { method: 'GET', path: '/responses/:id/input_items', handle: listInputItems },
]

/**
 * Reads a response. `recover` ends an unfinished response if its replica has died, and resolves to true if it did. A
 * finished response needs no such check, so it is read in one round trip.
 */
export async function readResponse(
  request: AuthenticatedRequest,
  recover: () => Promise<boolean>,
  { archive }: Ports<'archive'>,
): Promise<JsonObject> {
  const { id, turnId } = readResponseId(request)
  const load = async () => requireResponse(await archive.loadTurn(request.caller, turnId), id)
  const found = await load()
  const turn = isTurnUnfinished(found.state) && (await recover()) ? await load() : found
  return renderStoredResponse(turn, readInclude(request.query))
}

async function deleteResponse(
  request: AuthenticatedRequest,
  { archive, nowMs }: Ports<'archive' | 'nowMs'>,
) {
  const { id, turnId } = readResponseId(request)
  const deletion = { ...request.caller, turnId, dialect: 'responses', nowMs: nowMs() }
  const result = await archive.deleteTurn(deletion)
  if (result === 'unknown') throw createResponseNotFoundError(id)
  if (result === 'running') throw createStillRunningError()
  return { id, object: 'response', deleted: true }
}

async function listInputItems(request: AuthenticatedRequest, ports: Ports<'archive' | 'store'>) {
  const { caller, query } = request
  const paging = readPaging(query, 'desc')
  const { id, turnId } = readResponseId(request)
  const head = requireResponse(await loadLastTurn(caller, turnId, ports), id)
  const include = readInclude(query)
  return renderItemPage({ caller, head, lastListedPart: 'question', include }, paging, ports)
}

function readResponseId({ getPathParameter }: AuthenticatedRequest) {
  const id = requireIdPrefix(getPathParameter('id'), 'resp', 'response_id')
  const turnId = turnIdOfResponse(id)
  if (turnId === null) throw createResponseNotFoundError(id)
  return { id, turnId }
}

/**
 * Returns the turn. Throws an error if it was deleted, or if it is not a response: chat completions
 * are stored in the same table.
 */
function requireResponse(turn: StoredTurn | null, id: string): StoredTurn {
  if (turn === null || turn.dialect !== 'responses' || turn.deletedAtMs !== null) {
    throw createResponseNotFoundError(id)
  }
  return turn
}

function createResponseNotFoundError(id: string): GatewayError {
  return createNotFoundError(`Response with id '${shortenForError(id)}' not found.`)
}

function createStillRunningError(): GatewayError {
  const message = 'Cannot delete an in-flight response. Cancel it, or wait until it is over.'
  return new GatewayError('invalid_value', message, { param: 'response_id' })
}
