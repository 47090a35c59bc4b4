/**
 * Assigns ids to the items of an answer with several tool rounds, and marks calls of gateway tools. An item
 * gets a new id if an earlier round has used its id. An item without an id that follows hidden gateway
 * items gets one too: client and store derive missing ids from the item's index, which differs between
 * them.
 */
import { markGatewayToolCall } from '../../../core/items/gateway-tool-items.ts'
import { itemId } from '../../../core/turn-derived-ids.ts'
import { isToolItem, type Item } from '../../../core/item.ts'

export interface RoundItemIds {
  /** New id of the item; null if the item keeps its id. */
  readonly id: string | null
  readonly isGatewayCall: boolean
  /** Call id of the item, perhaps a new one; null for an item that is neither call nor output. */
  readonly callId: string | null
}

export const UNCHANGED_ROUND_ITEM_IDS: RoundItemIds = {
  id: null,
  isGatewayCall: false,
  callId: null,
}

/**
 * Creates the assigner for one answer. Gateway calls do not get call ids of `earlierItems`, the items
 * before the answer.
 */
export function createRoundItemIdAssigner(
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
    assignIds(item: Item, index: number): RoundItemIds {
      const isGatewayCall = item.type === 'function_call' && gatewayToolNames.has(item.name)
      const needsId = item.type !== 'opaque' && usedIds.has(item.id)
      // Hidden items come before this item only after a gateway call; otherwise its index is the same for
      // client and store.
      const id = hasGatewayCall && needsId ? itemId(item.type, turnId, index) : null
      hasGatewayCall ||= isGatewayCall
      if (!isGatewayCall) usedIds.add(item.id)
      if (!isToolItem(item)) return { id, isGatewayCall, callId: null }
      // A gateway call also gets a new call id if the conversation has already used its id: to read more of
      // an output, the model names the call id, which has to be unique. Call ids of client tools must not
      // change.
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

/** Returns the item with its assigned ids; the same item if they do not change. */
export function applyRoundItemIds(item: Item, { id, isGatewayCall, callId }: RoundItemIds): Item {
  const withId = id === null ? item : { ...item, id }
  const changesCallId = callId !== null && isToolItem(withId) && withId.call_id !== callId
  const result: Item = changesCallId ? { ...withId, call_id: callId } : withId
  return isGatewayCall && result.type === 'function_call' ? markGatewayToolCall(result) : result
}

/**
 * Appends a number to a used call id: `call_0` → `call_0_2`. Some upstreams number the calls of each answer
 * from 0.
 */
function findUnusedId(callId: string, isUsed: (callId: string) => boolean): string {
  let id = callId
  for (let number = 2; isUsed(id); number += 1) id = `${callId}_${number}`
  return id
}
