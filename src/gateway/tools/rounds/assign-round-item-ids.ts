/**
 * What is different about the items of an answer that is made of several: calls of the house are marked
 * as such (`core/items/gateway-tool-items.ts`), and where two rounds would use one name twice, or a name would
 * be made of a place that is another one for the client, the item is given a name of its own.
 */
import { markGatewayToolCall } from '../../../core/items/gateway-tool-items.ts'
import { itemId } from '../../../core/turn-derived-ids.ts'
import { isToolItem, type Item } from '../../../core/item.ts'

export interface RoundItemIds {
  readonly id: string | null
  readonly isOurs: boolean
  readonly callId: string | null
}

export const UNCHANGED_ROUND_ITEM_IDS: RoundItemIds = { id: null, isOurs: false, callId: null }

export interface RoundItemIdAssigner {
  /** Of an item that begins at this place of the answer. To be asked once for each, in their order. */
  readonly badgeOf: (item: Item, place: number) => RoundItemIds
  /** These are tools of the house as well. */
  readonly admit: (names: Iterable<string>) => void
}

/** `before` is what was said before the answer. Of its call ids none is taken for a call of the house. */
export function createRoundItemIdAssigner(
  turnId: string,
  names: Iterable<string>,
  before: readonly Item[],
): RoundItemIdAssigner {
  const ofHouse = new Set(names)
  const ids = new Set<string | undefined>([undefined])
  const callIds = new Set<string>()
  let holdsHouse = false
  return {
    badgeOf(item, place) {
      const isOurs = item.type === 'function_call' && ofHouse.has(item.name)
      // Behind what its client is not shown, an item has another place there than where it is kept. So
      // whoever would name it after its place is given the name.
      const isNameless = item.type !== 'opaque' && ids.has(item.id)
      const id = holdsHouse && isNameless ? itemId(item.type, turnId, place) : null
      holdsHouse ||= isOurs
      if (!isOurs) ids.add(item.id)
      if (!isToolItem(item)) return { id, isOurs, callId: null }
      // Nobody else has heard of our call, and whoever reads on in an output names it by its call.
      const isTaken = (callId: string): boolean =>
        callIds.has(callId) ||
        (isOurs && before.some((one) => isToolItem(one) && one.call_id === callId))
      const callId = unusedId(item.call_id, isTaken)
      callIds.add(callId)
      return { id, isOurs, callId }
    },
    admit(more) {
      for (const name of more) ofHouse.add(name)
    },
  }
}

/** The very same item, if nothing of it is different. */
export function applyRoundItemIds(item: Item, { id, isOurs, callId }: RoundItemIds): Item {
  const named = id === null ? item : { ...item, id }
  const isRenamed = callId !== null && isToolItem(named) && named.call_id !== callId
  const called: Item = isRenamed ? { ...named, call_id: callId } : named
  return isOurs && called.type === 'function_call' ? markGatewayToolCall(called) : called
}

/** Some services count their calls from 0 in every answer. */
function unusedId(callId: string, isTaken: (callId: string) => boolean): string {
  let id = callId
  for (let nth = 2; isTaken(id); nth += 1) id = `${callId}_${nth}`
  return id
}
