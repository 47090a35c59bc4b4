/** Rebuilds the client request of a background run from its stored turn, so that the run can be restarted. */
import type { Item } from '../core/item.ts'
import type { ClientRequest } from '../core/client-request.ts'
import { responsesDialect } from '../dialects/responses/responses-dialect.ts'
import { parseRequestWithOverrides } from '../dialects/context-policy/parse-request-with-overrides.ts'
import { GatewayError } from '../core/errors/gateway-error.ts'
import { excludeDeletedItems } from '../gateway/history/exclude-deleted-items.ts'
import type { StoredTurn } from '../store/turns/turn-store-interface.ts'

/**
 * Returns the client request of a turn, with its items; null if this version of the gateway cannot parse
 * the stored request. `chain` lists the turns of the conversation up to this turn.
 */
export function rebuildRequestFromStoredRun(
  turn: StoredTurn,
  chain: readonly StoredTurn[],
): ClientRequest | null {
  const clientRequest = parseStoredRequest(turn)
  if (clientRequest === null) return null
  return {
    ...clientRequest,
    items: [...clientRequest.items, ...listClientItems(clientRequest, chain), ...turn.input],
  }
}

function parseStoredRequest({ request }: StoredTurn): ClientRequest | null {
  try {
    return parseRequestWithOverrides(responsesDialect, { ...request, input: [] })
  } catch (error) {
    if (error instanceof GatewayError) return null
    throw error
  }
}

/**
 * Returns the earlier items of the conversation if the client sent them itself. A client that names a
 * previous response or a conversation did not send them.
 */
function listClientItems(
  { storage }: ClientRequest,
  chain: readonly StoredTurn[],
): readonly Item[] {
  const namesHistory = storage.previousResponseId !== null || storage.conversationId !== null
  return namesHistory ? [] : chain.slice(0, -1).flatMap(excludeDeletedItems).map(removeOrigin)
}

/** Removes the origin of a stored item, because items in a client's request have none. */
function removeOrigin({ origin: _origin, ...item }: Item): Item {
  return item
}
