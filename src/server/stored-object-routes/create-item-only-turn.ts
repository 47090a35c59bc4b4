/** Items that a client adds to a conversation by itself: a turn of their own that nobody answers. */
import type { Caller } from '../../core/client/caller.ts'
import type { Item, Origin } from '../../core/item.ts'
import { parseItems } from '../../dialects/responses/parse/parse-items.ts'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import { resolvedItems } from '../../gateway/history/resolve-item-references.ts'
import type { NewTurn, StoredTurn } from '../../store/turns/turn-store-interface.ts'
import type { World } from '../../gateway/dependencies-interface.ts'

export interface TurnPlace {
  readonly id: string
  readonly conversation: string
  /** What the conversation has come to. */
  readonly chain: readonly StoredTurn[]
}

/** As many as OpenAI takes at once. */
const MAX_ITEMS = 20

export async function itemsIn(
  value: unknown,
  caller: Caller,
  world: World,
): Promise<readonly Item[]> {
  const items = parseItems(value, 'items')
  if (items.length > MAX_ITEMS) throw tooMany(items.length)
  return resolvedItems(items, caller, world)
}

export function turnOfItems(
  items: readonly Item[],
  { id, conversation, chain }: TurnPlace,
  { tenant, user }: Caller,
  { nowMs }: World,
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
