/**
 * Restores calls of the client's tools and items of hosted tools (tools that the upstream runs):
 * chooses the recorded item, the client's changed item, or none.
 */
import type { Item } from '../../core/item.ts'
import { isUpstreamCompaction } from '../../core/items/compaction-item.ts'
import type { RecordedTurn } from '../../core/items/recorded-turn.ts'
import { readToolCallIdentity } from '../../core/items/tool-call-pairs.ts'
import { appendToGroup } from '../map-and-list-helpers.ts'
import { isSameCall, listHostedItemKeys } from '../compare-items.ts'
import { isNonReplayableItem } from './is-non-replayable-item.ts'
import {
  type RestoreState,
  type RestoredPiece,
  addClientTextBefore,
  LED_TO_EDITED_TEXT_PIECE,
  NON_REPLAYABLE_PIECE,
  createRecalledPiece,
  DELETED_PIECE,
  OMITTED_CALL_PIECE,
  STALE_COMPACTION_PIECE,
} from './restore-state.ts'

/**
 * Chooses the item for a recorded call of a client's tool: the recorded call, the client's changed
 * call, or none. `callKey` is the kind of the tool and the call id, e.g. `function call_1`;
 * `callCounts` counts the turn's calls with each key.
 */
export function createCallPiece(
  state: RestoreState,
  item: Item,
  callKey: string,
  turn: RecordedTurn,
  callCounts: Map<string, number>,
): RestoredPiece {
  const nth = callCounts.get(callKey) ?? 0
  callCounts.set(callKey, nth + 1)
  const output = state.replaysTools ? state.findOutput(turn, callKey, nth) : null
  const clientItem = state.unmatchedItems.takeFirst([callKey])
  if (clientItem !== null) {
    addClientTextBefore(state, clientItem)
    if (output !== null && !state.answeredCalls.has(clientItem))
      appendToGroup(state.missingOutputs, output.turn, output)
    if (isSameCall(item, clientItem)) return { item, note: null }
    return { item: clientItem, note: { did: 'changed', why: 'call-edited' } }
  }
  if (isNonReplayableItem(item)) return NON_REPLAYABLE_PIECE
  if (state.replaysTools && state.unpairedOutputKeys.has(callKey))
    return createRecalledPiece(item, turn)
  if (output === null) return OMITTED_CALL_PIECE
  if (state.areMissingCallsDeleted) return DELETED_PIECE
  appendToGroup(state.missingOutputs, output.turn, output)
  return createRecalledPiece(item, turn)
}

/**
 * Chooses the item for a recorded item of a hosted tool, e.g. a web search: the recorded item, the
 * client's item, or none. `isEdited` is true if the user edited the turn's text.
 */
export function createHostedPiece(
  state: RestoreState,
  item: Item,
  turn: RecordedTurn,
  isEdited: boolean,
): RestoredPiece {
  const clientItem = state.unmatchedItems.takeFirst(listHostedItemKeys(item))
  if (clientItem !== null) {
    addClientTextBefore(state, clientItem)
    return { item: isNonReplayableItem(item) ? clientItem : item, note: null }
  }
  if (isNonReplayableItem(item)) return NON_REPLAYABLE_PIECE
  // Providers reject such an item without the reasoning that led to it.
  if (isEdited && turn.output.some(({ type }) => type === 'reasoning'))
    return LED_TO_EDITED_TEXT_PIECE
  if (isStaleCompaction(item, state)) return STALE_COMPACTION_PIECE
  return !state.replaysTools && isHostedCall(item)
    ? OMITTED_CALL_PIECE
    : createRecalledPiece(item, turn)
}

/**
 * True for a recorded compaction (an item that replaces the conversation before it) if the client
 * may have edited that conversation since. The conversation is unedited if a turn of the answer
 * segment has the segment's fingerprint, because a fingerprint covers everything before the
 * segment, too.
 */
function isStaleCompaction(item: Item, { segment, turns }: RestoreState): boolean {
  const isSame = ({ fingerprint }: RecordedTurn): boolean =>
    fingerprint !== null && fingerprint === segment.fingerprint
  return isUpstreamCompaction(item) && !turns.some(isSame)
}

/**
 * True for a call of a tool that the upstream runs, e.g. `web_search_call`. Such an item has both
 * the call and its result.
 */
function isHostedCall(item: Item): boolean {
  if (item.type !== 'opaque' || readToolCallIdentity(item) !== null) return false
  const { type } = item.raw
  return typeof type === 'string' && type.endsWith('_call')
}
