/**
 * What the gateway remembers of the conversation that a request goes on with: the recorded items in
 * their recorded order, and the turn that the new one follows.
 */
import { turnIdOfResponse } from '../conversation/ids.ts'
import type { Item } from '../conversation/item.ts'
import type { Inbound } from '../dialect/dialect.ts'
import { GatewayError } from '../errors.ts'
import type { Caller } from '../keys.ts'
import type { Store, StoredTurn } from '../store/store.ts'

export interface History {
  readonly items: readonly Item[]
  /** The turn that the new one follows, `null` at the start of a conversation. */
  readonly parent: StoredTurn | null
}

const NO_HISTORY: History = { items: [], parent: null }

export async function loadHistory(
  inbound: Inbound,
  caller: Caller,
  store: Store,
): Promise<History> {
  const { previousResponseId } = inbound.memory
  if (previousResponseId === null) return NO_HISTORY
  const turnId = turnIdOfResponse(previousResponseId)
  const chain = turnId === null ? null : await chainOf(store, caller.tenant, turnId)
  const parent = chain?.at(-1)
  if (chain === null || parent === undefined) throw notFound(previousResponseId)
  if (parent.state === 'open' || parent.state === 'failed')
    throw notUsable(previousResponseId, parent.state)
  return { items: chain.flatMap((turn) => [...turn.input, ...turn.output]), parent }
}

async function chainOf(store: Store, tenant: string, turnId: string) {
  try {
    return await store.loadChain(tenant, turnId)
  } catch (cause) {
    if (cause instanceof GatewayError) throw cause
    throw new GatewayError(
      'store_unavailable',
      'The conversation could not be read because the database does not answer. Try again in a moment.',
      { cause, headers: { 'retry-after': '1' } },
    )
  }
}

function notFound(id: string): GatewayError {
  return new GatewayError(
    'previous_response_not_found',
    `Previous response with id '${id}' not found.`,
    { param: 'previous_response_id' },
  )
}

function notUsable(id: string, state: 'open' | 'failed'): GatewayError {
  const why = state === 'open' ? 'is still in progress' : 'has failed'
  return new GatewayError(
    'invalid_value',
    `Previous response with id '${id}' ${why}, so it cannot be continued.`,
    { param: 'previous_response_id' },
  )
}
