/**
 * Parses the items that a client adds to a conversation, and creates a turn that contains them and
 * no answer.
 */
import type { Caller } from '../../core/client/caller.ts'
import type { Item, Origin } from '../../core/item.ts'
import { parseItems } from '../../dialects/responses/parse/parse-items.ts'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import { resolveReferencedItems } from '../../gateway/history/resolve-item-references.ts'
import type { NewTurn, StoredTurn } from '../../store/turns/turn-store-interface.ts'
import type { Ports } from '../../gateway/dependencies-interface.ts'

export interface ItemOnlyTurnPosition {
  readonly turnId: string
  readonly conversation: string
  /** The last turn of the conversation; null if it has none. */
  readonly head: StoredTurn | null
}

/** OpenAI's maximum number of items in one request. */
const MAX_ITEMS = 20

export async function parseAddedItems(
  value: unknown,
  caller: Caller,
  ports: Ports<'archive' | 'settings'>,
): Promise<readonly Item[]> {
  const items = parseItems(value, 'items')
  if (items.length > MAX_ITEMS) throw createTooManyItemsError(items.length)
  return resolveReferencedItems(items, caller, ports)
}

export function createItemOnlyTurn(
  items: readonly Item[],
  { turnId, conversation, head }: ItemOnlyTurnPosition,
  { tenant, user }: Caller,
  { nowMs }: Ports<'nowMs'>,
): NewTurn {
  return {
    id: turnId,
    tenant,
    user,
    thread: head?.thread ?? turnId,
    parent: head?.id ?? null,
    depth: head === null ? 0 : head.depth + 1,
    conversation,
    background: false,
    replicaId: null,
    dialect: 'conversation',
    origin: NO_ORIGIN,
    createdAtMs: nowMs(),
    request: {},
    // The digests identify large request fields, e.g. tools. The turn copies the digests of its
    // parent, so that the turn after it does not store the same fields again.
    ...(head === null ? {} : { digests: head.digests }),
    input: items,
  }
}

const NO_ORIGIN: Origin = { wire: '', account: '', model: '', prefixHash: null }

function createTooManyItemsError(count: number): GatewayError {
  return new GatewayError({
    status: 400,
    type: 'invalid_request_error',
    code: 'array_above_max_length',
    message: `Invalid 'items': array too long. Expected an array with maximum length ${MAX_ITEMS}, but got an array with length ${count} instead.`,
    param: 'items',
  })
}
