/**
 * Assigns ids to the items of an answer with several tool rounds, and marks calls of gateway tools. An item
 * gets a new id if an earlier round has used its id. So does an item without an id that follows hidden
 * gateway items: client and store would derive its id from its index, which is not the same for both.
 */
import { markGatewayToolCall } from '../../../core/items/gateway-tool-items.ts'
import { itemId } from '../../../core/turn-derived-ids.ts'
import { isToolItem, type Item } from '../../../core/item.ts'

export interface AssignedItemIds {
  /** New id of the item; null if the item keeps its id. */
  readonly id: string | null
  readonly isGatewayCall: boolean
  /** Call id of the item, perhaps a new one; null for an item that is neither call nor output. */
  readonly callId: string | null
}

export const UNCHANGED_ITEM_IDS: AssignedItemIds = {
  id: null,
  isGatewayCall: false,
  callId: null,
}

/**
 * Creates the assigner for one answer. `earlierItems`: the items before the answer; gateway calls do not
 * get their call ids.
 */
export function createAnswerItemIdAssigner(
  turnId: string,
  toolNames: Iterable<string>,
  earlierItems: readonly Item[],
) {
  const gatewayToolNames = new Set(toolNames)
  const usedIds = new Set<string | undefined>([undefined])
  const usedCallIds = new Set<string>()
  let hasGatewayCall = false
  return {
    /** Assigns the ids of the item at this index of the answer. Called once for each item, in order. */
    assignIds(item: Item, index: number): AssignedItemIds {
      const isGatewayCall = item.type === 'function_call' && gatewayToolNames.has(item.name)
      const needsId = item.type !== 'opaque' && usedIds.has(item.id)
      // A missing id is derived from the index of the item. Only after a gateway call is that index not the
      // same for client and store, because the client does not see the call.
      const id = hasGatewayCall && needsId ? itemId(item.type, turnId, index) : null
      hasGatewayCall ||= isGatewayCall
      if (!isGatewayCall) usedIds.add(item.id)
      if (!isToolItem(item)) return { id, isGatewayCall, callId: null }
      // A call id must be unique within the answer. That of a gateway call must be unique in the whole
      // conversation, because the model names it to `expand_output`. Call ids of client tools that appear
      // before the answer may be reused: the client knows them.
      const isUsed = (callId: string): boolean =>
        usedCallIds.has(callId) ||
        (isGatewayCall && earlierItems.some((one) => isToolItem(one) && one.call_id === callId))
      const callId = findUnusedId(item.call_id, isUsed)
      usedCallIds.add(callId)
      return { id, isGatewayCall, callId }
    },
    /** Adds the names of gateway tools that the next round may call. */
    addToolNames(names: Iterable<string>): void {
      for (const name of names) gatewayToolNames.add(name)
    },
  }
}

/** Returns the item with its assigned ids; the item itself if no id changes and it needs no mark. */
export function applyItemIds(item: Item, { id, isGatewayCall, callId }: AssignedItemIds): Item {
  const withId = id === null ? item : { ...item, id }
  const changesCallId = callId !== null && isToolItem(withId) && withId.call_id !== callId
  const result: Item = changesCallId ? { ...withId, call_id: callId } : withId
  return isGatewayCall && result.type === 'function_call' ? markGatewayToolCall(result) : result
}

/**
 * Appends a number to a call id that is used already: `call_0` → `call_0_2`. Needed because some upstreams
 * number the calls of each round from 0.
 */
function findUnusedId(callId: string, isUsed: (callId: string) => boolean): string {
  let id = callId
  for (let number = 2; isUsed(id); number += 1) id = `${callId}_${number}`
  return id
}
