/** The request of a run that has begun before, put together again from what is stored of it. */
import type { Item } from '../core/item.ts'
import type { ClientRequest } from '../core/client-request.ts'
import { responsesDialect } from '../dialects/responses/responses-dialect.ts'
import { parseRequestWithOverrides } from '../dialects/context-policy/parse-request-with-overrides.ts'
import { GatewayError } from '../core/errors/gateway-error.ts'
import { excludeDeletedItems } from '../gateway/history/exclude-deleted-items.ts'
import type { StoredTurn } from '../store/turns/turn-store-interface.ts'

/**
 * `chain` is the turn's, with the turn itself at its end. `null` for what can be read no more, as
 * after a change of the gateway.
 */
export function rebuildRequestFromStoredRun(
  turn: StoredTurn,
  chain: readonly StoredTurn[],
): ClientRequest | null {
  const clientRequest = parsed(turn)
  if (clientRequest === null) return null
  return {
    ...clientRequest,
    items: [...clientRequest.items, ...unnamed(clientRequest, chain), ...turn.input],
  }
}

function parsed({ request }: StoredTurn): ClientRequest | null {
  try {
    return parseRequestWithOverrides(responsesDialect, { ...request, input: [] })
  } catch (error) {
    if (error instanceof GatewayError) return null
    throw error
  }
}

/** What a request brought along itself is stored with the turns before, once. */
function unnamed({ storage }: ClientRequest, chain: readonly StoredTurn[]): readonly Item[] {
  const namesIt = storage.previousResponseId !== null || storage.conversationId !== null
  return namesIt ? [] : chain.slice(0, -1).flatMap(excludeDeletedItems).map(asGiven)
}

/** Who made it was not known of what a client brought along. */
function asGiven({ origin: _origin, ...item }: Item): Item {
  return item
}
