/**
 * Lists a page of the items of a chain of turns, and finds an item by its id, by loading only the turns that
 * hold them. The id of an item depends on whether an earlier item has the same one. If that cannot be decided
 * with a few turns, e.g. because a client reuses ids, the complete chain is loaded.
 */
import type { Caller } from '../../core/client/caller.ts'
import type { JsonObject } from '../../core/json/json.ts'
import type { Ports } from '../../gateway/dependencies-interface.ts'
import type { StoredTurn } from '../../store/turns/turn-store-interface.ts'
import { listTurnItems, type ListedItem } from './list-turn-items.ts'
import { createUnknownCursorError, renderPage, selectPage, type Paging } from './paging.ts'

export interface ItemChain {
  readonly caller: Caller
  /** The last turn of the chain; null for a chain without turns. */
  readonly head: StoredTurn | null
  /** With `question`, the output of the last turn is not listed. */
  readonly lastListedPart: 'question' | 'answer'
  /** The values of the query parameter `include`. */
  readonly include: readonly string[]
}

type ChainPorts = Ports<'archive' | 'store'>

/** Loads a turn of a chain by its id, without the turns before it. */
export async function loadLastTurn(
  caller: Caller,
  turnId: string,
  { archive }: Ports<'archive'>,
): Promise<StoredTurn | null> {
  const slice = { lastTurnId: turnId, lastDepth: MAX_DEPTH, maxTurns: 1 }
  return (await archive.loadChainSlice(caller, slice))[0] ?? null
}

/** Upper limit of depths: the maximum of a 32-bit column. */
const MAX_DEPTH = 2 ** 31 - 1

/** Renders one page of the items. Throws an error if the chain has no item with the id `after`. */
export async function renderItemPage(
  chain: ItemChain,
  paging: Paging,
  ports: ChainPorts,
): Promise<JsonObject> {
  const items = (await loadItemsOfPage(chain, paging, ports)) ?? (await loadAllItems(chain, ports))
  return renderPage(items, paging, (item) => item.render())
}

/** Finds an item that is not hidden. Resolves to null if the chain has none with this id. */
export async function findChainItem(
  chain: ItemChain,
  itemId: string,
  ports: ChainPorts,
): Promise<ListedItem | null> {
  const place = await locateItem(chain, itemId, ports)
  if (place === 'missing') return null
  const items = place === 'uncertain' ? await loadAllItems(chain, ports) : place.items
  return items.find(({ id, isHidden }) => id === itemId && !isHidden) ?? null
}

/**
 * Lists the items of a turn that was added to the chain. Their ids are those that lists of the chain will
 * have.
 */
export async function listAddedItems(
  chain: ItemChain,
  added: StoredTurn,
  ports: ChainPorts,
): Promise<readonly ListedItem[]> {
  const items = listItems(chain, [added])
  if (await haveUniqueIds(chain, items, [added], ports)) return items
  return listItems(chain, [...(await loadAllTurns(chain, ports)), added]).slice(-items.length)
}

/**
 * Loads turns until they hold one page. Resolves to null if the complete chain is needed. The first slice has
 * about as many turns as a page needs; if most items are hidden, each next slice is twice as large.
 */
async function loadItemsOfPage(
  chain: ItemChain,
  paging: Paging,
  ports: ChainPorts,
): Promise<readonly ListedItem[] | null> {
  const { head, caller } = chain
  const { after, limit, order } = paging
  if (head === null) return []
  if (!isNumbered(head)) return null
  const start = after === null ? null : await locateItem(chain, after, ports)
  if (after !== null && start === 'missing') throw createUnknownCursorError(after)
  if (start === 'uncertain' || start === 'missing') return null
  let turns: readonly StoredTurn[] = start === null ? [] : [start.turn]
  let maxTurns = Math.ceil(limit / 2) + 1
  for (;;) {
    const [first, last] = [turns[0], turns.at(-1)]
    const lastDepth =
      order === 'asc'
        ? Math.min((last?.depth ?? -1) + maxTurns, head.depth)
        : (first?.depth ?? head.depth + 1) - 1
    const missingTurns = order === 'asc' ? lastDepth - (last?.depth ?? -1) : maxTurns
    if (missingTurns > 0 && lastDepth >= 0) {
      const slice = { lastTurnId: head.id, lastDepth, maxTurns: missingTurns }
      const loaded = await ports.archive.loadChainSlice(caller, slice)
      // The chain was deleted meanwhile.
      if (loaded.length === 0) return null
      turns = order === 'asc' ? [...turns, ...loaded] : [...loaded, ...turns]
      if (!areConsecutive(turns)) return null
    }
    const items = listItems(chain, turns)
    const isAtEnd = order === 'asc' ? turns.at(-1)?.id === head.id : turns[0]?.parent === null
    const page = selectPage(items, paging)
    if (isAtEnd || page.hasMore) {
      const shown = after === null ? page.entries : [...page.entries, { id: after }]
      return (await haveUniqueIds(chain, shown, turns, ports)) ? items : null
    }
    if (missingTurns <= 0 || lastDepth < 0) return null
    maxTurns *= 2
  }
}

/** The turn of an item, and the items of that turn. */
interface ItemPlace {
  readonly turn: StoredTurn
  readonly items: readonly ListedItem[]
}

async function locateItem(
  chain: ItemChain,
  itemId: string,
  ports: ChainPorts,
): Promise<ItemPlace | 'missing' | 'uncertain'> {
  const { head, caller } = chain
  if (head === null) return 'missing'
  // Only an id that two items would have ends with `_`.
  if (!isNumbered(head) || itemId.endsWith('_')) return 'uncertain'
  const found = await ports.archive.findTurnsOfItems(caller, [itemId])
  if (found === null) return 'uncertain'
  const inThread = found.filter(
    ({ thread, depth }) => thread === head.thread && depth <= head.depth,
  )
  const [candidate] = inThread
  if (candidate === undefined) return 'missing'
  if (inThread.some(({ turnId }) => turnId !== candidate.turnId)) return 'uncertain'
  const slice = { lastTurnId: head.id, lastDepth: candidate.depth, maxTurns: 1 }
  const [turn] = await ports.archive.loadChainSlice(caller, slice)
  if (turn?.id !== candidate.turnId) return 'missing'
  const items = listItems(chain, [turn])
  // In a list of the complete chain, an item may have a generated id because an earlier one has its own.
  return items.some(({ id }) => id === itemId) ? { turn, items } : 'uncertain'
}

/** True if no earlier turn of the chain has an item with one of the ids. */
async function haveUniqueIds(
  { head, caller }: ItemChain,
  items: readonly Pick<ListedItem, 'id'>[],
  turns: readonly StoredTurn[],
  { archive }: ChainPorts,
): Promise<boolean> {
  const [first] = turns
  if (head === null || first === undefined || first.parent === null || items.length === 0)
    return true
  const known = new Set(turns.map(({ id }) => id))
  const found = await archive.findTurnsOfItems(
    caller,
    items.map(({ id }) => id),
  )
  return (
    found?.every(
      ({ turnId, thread, depth }) =>
        known.has(turnId) || thread !== head.thread || depth >= first.depth,
    ) ?? false
  )
}

/** False for turns that were stored before turns had a depth. */
function isNumbered({ depth, parent }: StoredTurn): boolean {
  return depth > 0 || parent === null
}

function areConsecutive(turns: readonly StoredTurn[]): boolean {
  return turns.every((turn, at) => {
    const before = turns[at - 1]
    return before === undefined || (turn.parent === before.id && turn.depth === before.depth + 1)
  })
}

function listItems(
  { head, lastListedPart, include }: ItemChain,
  turns: readonly StoredTurn[],
): readonly ListedItem[] {
  const endsAtHead = turns.at(-1)?.id === head?.id
  return listTurnItems(turns, endsAtHead ? lastListedPart : 'answer', include)
}

async function loadAllTurns(
  { head, caller }: ItemChain,
  { store }: ChainPorts,
): Promise<readonly StoredTurn[]> {
  return head === null ? [] : ((await store.loadChain(caller, head.id)) ?? [])
}

async function loadAllItems(chain: ItemChain, ports: ChainPorts): Promise<readonly ListedItem[]> {
  return listItems(chain, await loadAllTurns(chain, ports))
}
