/**
 * Drops reasoning that is older than the policy allows. `open_turn` keeps only the reasoning of the current round.
 * `next_reply` also keeps the reasoning of the last answered round before it, and of unanswered rounds in between.
 * Pinned reasoning always stays.
 *
 * The result depends only on the list. Thus each replica drops the same items, and a question that is sent again, e.g.
 * after its answer failed, is sent with the same reasoning.
 */
import type { Item } from '../../core/item.ts'
import { readToolCallIdentity } from '../../core/items/tool-call-pairs.ts'
import {
  isPinnedByClient,
  affectsAllLaterItems,
  findRoundStarts,
} from '../../core/items/rounds-and-pinned-items.ts'
import { filterItems } from '../edit-items.ts'
import { ITEM_TRAITS } from '../detect-item-traits.ts'
import type { Transform } from '../transform-interface.ts'

/**
 * With `findCuts`, which returns the value 1 at each item that is dropped, reasoning is dropped only where this saves
 * costs. Without it, all expired reasoning is dropped.
 */
export function dropExpiredReasoning(
  keep: ReasoningLifetime,
  findCuts?: (items: readonly Item[]) => Uint8Array,
): Transform {
  return {
    name: 'retain-reasoning',
    requiredTraits: ITEM_TRAITS.reasoning,
    prefixChanges: 'permanent',
    run(items) {
      const isCut = findCuts?.(items)
      if (isCut !== undefined) {
        const stays = (index: number, item: Item) => item.type !== 'reasoning' || isCut[index] !== 1
        return filterItems(items, stays, 'reasoning-expired')
      }
      const cutoff =
        keep === 'open_turn' ? (findRoundStarts(items).at(-1) ?? 0) : findLastAnsweredRound(items)
      return filterItems(
        items,
        (index, item) => item.type !== 'reasoning' || index >= cutoff || isPinnedByClient(item),
        'reasoning-expired',
      )
    },
  }
}

export type ReasoningLifetime = 'next_reply' | 'open_turn'

/**
 * Returns the index from which `next_reply` keeps reasoning: the start of the last round with an answer, except the
 * current round. 0 if there is none.
 */
function findLastAnsweredRound(items: readonly Item[]): number {
  const starts = findRoundStarts(items)
  for (let round = starts.length - 2; round >= 0; round -= 1) {
    if (items.slice(starts[round], starts[round + 1]).some(isAnswer)) return starts[round] ?? 0
  }
  return 0
}

/**
 * True for an item that makes its round an answered one: text or a call of the model, or an item of a hosted tool.
 * Reasoning and tool outputs alone are no answer.
 */
function isAnswer(item: Item): boolean {
  switch (item.type) {
    case 'message':
      return (
        item.role === 'assistant' &&
        item.content.some((part) => !('text' in part) || part.text !== '')
      )
    case 'function_call':
    case 'custom_tool_call':
      return true
    case 'opaque':
      return readToolCallIdentity(item)?.side !== 'output' && !affectsAllLaterItems(item)
    case 'reasoning':
    case 'function_call_output':
    case 'custom_tool_call_output':
      return false
  }
}
