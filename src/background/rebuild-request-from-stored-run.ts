/** Rebuilds the client request of a background run from its stored turn, so that the run can be restarted. */
import type { Item } from '../core/item.ts'
import type { ClientRequest } from '../core/client-request.ts'
import { responsesDialect } from '../dialects/responses/responses-dialect.ts'
import { parseRequestAndBackstoryFields } from '../dialects/context-policy/parse-request-and-backstory-fields.ts'
import { GatewayError } from '../core/errors/gateway-error.ts'
import { excludeDeletedItems } from '../gateway/history/exclude-deleted-items.ts'
import { splitLostFields } from '../gateway/record/lost-fields-of-stored-request.ts'
import type { StoredTurn } from '../store/turns/turn-store-interface.ts'

/**
 * Returns the client request of a turn, with its items. Null if this version of the gateway cannot parse
 * the stored request. `chain`: the turns of the conversation, up to and including this turn.
 */
export function rebuildRequestFromStoredRun(
  turn: StoredTurn,
  chain: readonly StoredTurn[],
  isTask = false,
): ClientRequest | null {
  const clientRequest = parseStoredRequest(turn)
  if (clientRequest === null) return null
  const isTemporary = turn.isTemporary === true
  return {
    ...clientRequest,
    client: { ...clientRequest.client, isTask, isTemporary },
    items: [...clientRequest.items, ...listClientItems(clientRequest, chain), ...turn.input],
  }
}

function parseStoredRequest(turn: StoredTurn): ClientRequest | null {
  const { request } = splitLostFields(turn)
  try {
    return parseRequestAndBackstoryFields(responsesDialect, { ...request, input: [] })
  } catch (error) {
    if (error instanceof GatewayError) return null
    throw error
  }
}

/**
 * Returns the items of the earlier turns, if the client sent them itself; none if it named a previous
 * response or a conversation instead.
 */
function listClientItems(
  { storage }: ClientRequest,
  chain: readonly StoredTurn[],
): readonly Item[] {
  const namesHistory = storage.previousResponseId !== null || storage.conversationId !== null
  return namesHistory ? [] : chain.slice(0, -1).flatMap(excludeDeletedItems).map(removeOrigin)
}

/**
 * Removes the field `origin`, which names the upstream that made an item. Items in a client's request do
 * not have it.
 */
function removeOrigin({ origin: _origin, ...item }: Item): Item {
  return item
}
