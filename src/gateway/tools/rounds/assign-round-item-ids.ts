/**
 * Assigns ids to the items of an answer with tool rounds. Calls of gateway tools are marked
 * (`core/items/gateway-tool-items.ts`). An item gets an id if its own is used in an earlier round, or if the client
 * would derive another id than the store, because the client's output lacks the hidden items.
 */
import { markGatewayToolCall } from '../../../core/items/gateway-tool-items.ts'
import { itemId } from '../../../core/turn-derived-ids.ts'
import { isToolItem, type Item } from '../../../core/item.ts'

export interface RoundItemIds {
  /** The new id; null if the item keeps its id. */
  readonly id: string | null
  readonly isGatewayCall: boolean
  /** The call id to use; null for an item that is neither call nor output. */
  readonly callId: string | null
}

export const UNCHANGED_ROUND_ITEM_IDS: RoundItemIds = {
  id: null,
  isGatewayCall: false,
  callId: null,
}

export interface RoundItemIdAssigner {
  /** Assigns the ids of the item at an index of the answer. Called once for each item, in their order. */
  readonly assignIds: (item: Item, index: number) => RoundItemIds
  /** Adds the gateway tools of the next round. */
  readonly addToolNames: (names: Iterable<string>) => void
}

/** Creates the assigner of one answer. Call ids in `before`, the items before the answer, are not used again. */
export function createRoundItemIdAssigner(
  turnId: string,
  toolNames: Iterable<string>,
  before: readonly Item[],
): RoundItemIdAssigner {
  const gatewayToolNames = new Set(toolNames)
  const usedIds = new Set<string | undefined>([undefined])
  const usedCallIds = new Set<string>()
  let hasGatewayCall = false
  return {
    assignIds(item, index) {
      const isGatewayCall = item.type === 'function_call' && gatewayToolNames.has(item.name)
      const needsId = item.type !== 'opaque' && usedIds.has(item.id)
      // After a hidden item, the item's index in the client's output differs from the stored one.
      const id = hasGatewayCall && needsId ? itemId(item.type, turnId, index) : null
      hasGatewayCall ||= isGatewayCall
      if (!isGatewayCall) usedIds.add(item.id)
      if (!isToolItem(item)) return { id, isGatewayCall, callId: null }
      // A gateway call can be renamed, because the client does not see it. A call id of an earlier turn would be
      // ambiguous: the model names an output by it to read more of it.
      const isUsed = (callId: string): boolean =>
        usedCallIds.has(callId) ||
        (isGatewayCall && before.some((one) => isToolItem(one) && one.call_id === callId))
      const callId = findUnusedId(item.call_id, isUsed)
      usedCallIds.add(callId)
      return { id, isGatewayCall, callId }
    },
    addToolNames(names) {
      for (const name of names) gatewayToolNames.add(name)
    },
  }
}

/** Returns the same item if its ids do not change. */
export function applyRoundItemIds(item: Item, { id, isGatewayCall, callId }: RoundItemIds): Item {
  const withId = id === null ? item : { ...item, id }
  const changesCallId = callId !== null && isToolItem(withId) && withId.call_id !== callId
  const result: Item = changesCallId ? { ...withId, call_id: callId } : withId
  return isGatewayCall && result.type === 'function_call' ? markGatewayToolCall(result) : result
}

/** Adds a number if the id is used: `call_0` → `call_0_2`. Some upstreams number the calls of each answer from 0. */
function findUnusedId(callId: string, isUsed: (callId: string) => boolean): string {
  let id = callId
  for (let number = 2; isUsed(id); number += 1) id = `${callId}_${number}`
  return id
}
