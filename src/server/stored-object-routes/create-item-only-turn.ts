/** Items that a client adds to a conversation by itself: a turn of their own that nobody answers. */
import type { Caller } from '../../core/client/caller.ts'
import type { Item, Origin } from '../../core/item.ts'
import { parseItems } from '../../dialects/responses/parse/parse-items.ts'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import { resolveReferencedItems } from '../../gateway/history/resolve-item-references.ts'
import type { NewTurn, StoredTurn } from '../../store/turns/turn-store-interface.ts'
import type { GatewayDependencies } from '../../gateway/dependencies-interface.ts'

export interface ItemOnlyTurnPosition {
  readonly id: string
  readonly conversation: string
  /** What the conversation has come to. */
  readonly chain: readonly StoredTurn[]
}

/** As many as OpenAI takes at once. */
const MAX_ITEMS = 20

export async function parseAddedItems(
  value: unknown,
  caller: Caller,
  world: GatewayDependencies,
): Promise<readonly Item[]> {
  const items = parseItems(value, 'items')
  if (items.length > MAX_ITEMS) throw tooMany(items.length)
  return resolveReferencedItems(items, caller, world)
}

export function createItemOnlyTurn(
  items: readonly Item[],
  { id, conversation, chain }: ItemOnlyTurnPosition,
  { tenant, user }: Caller,
  { nowMs }: GatewayDependencies,
): NewTurn {
  const head = chain.at(-1)
  return {
    id,
    tenant,
    user,
    thread: head?.thread ?? id,
    parent: head?.id ?? null,
    depth: head === undefined ? 0 : head.depth + 1,
    conversation,
    background: false,
    owner: null,
    dialect: 'conversation',
    origin: NOBODY,
    createdAtMs: nowMs(),
    request: {},
    // What the turn before asked for holds for the turn behind.
    ...(head === undefined ? {} : { digests: head.digests }),
    input: items,
  }
}

const NOBODY: Origin = { wire: '', account: '', model: '', prefixHash: null }

function tooMany(count: number): GatewayError {
  return new GatewayError({
    status: 400,
    type: 'invalid_request_error',
    code: 'array_above_max_length',
    message: `Invalid 'items': array too long. Expected an array with maximum length ${MAX_ITEMS}, but got an array with length ${count} instead.`,
    param: 'items',
  })
}
