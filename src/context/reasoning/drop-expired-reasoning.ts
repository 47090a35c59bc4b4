/**
 * Leaves out reasoning that is older than it is to be kept. With `next_reply` it is given back until
 * the next reply is complete: that of the running round, and of the last round that was answered.
 *
 * It is told from the list alone, so everybody who has the same list leaves out the same, and a
 * question that is asked again, or whose answer failed, finds what it found before. Where none is
 * kept (`disabled`), what is still remembered from before is given back.
 */
import type { Item } from '../../core/item.ts'
import { callEndOf } from '../../core/items/tool-call-pairs.ts'
import {
  isPinnedByClient,
  hasLastingEffect,
  findRoundStarts,
} from '../../core/items/rounds-and-pinned-items.ts'
import { filterItems } from '../filter-items.ts'
import { ITEM_TRAITS } from '../scan-items.ts'
import type { Transform } from '../transform-interface.ts'

export function dropExpiredReasoning(keep: 'next_reply' | 'open_turn'): Transform {
  return {
    name: 'retain-reasoning',
    needs: ITEM_TRAITS.reasoning,
    prefixStability: 'lasting',
    run(items) {
      const border =
        keep === 'open_turn' ? (findRoundStarts(items).at(-1) ?? 0) : startOfAnswered(items)
      return filterItems(
        items,
        (at, item) => item.type !== 'reasoning' || at >= border || isPinnedByClient(item),
        'reasoning-expired',
      )
    },
  }
}

/** Where the newest round begins that was answered before the running one; 0 if there is none. */
function startOfAnswered(items: readonly Item[]): number {
  const starts = findRoundStarts(items)
  for (let round = starts.length - 2; round >= 0; round -= 1) {
    const [start, end] = [starts[round] ?? 0, starts[round + 1] ?? items.length]
    for (let at = start; at < end; at += 1) if (isAnswer(items[at])) return start
  }
  return 0
}

/** Words or calls of the model. Reasoning alone answers nothing. */
function isAnswer(item: Item | undefined): boolean {
  switch (item?.type) {
    case 'message':
      return item.role === 'assistant' && item.content.some(saysSomething)
    case 'function_call':
    case 'custom_tool_call':
      return true
    case 'opaque':
      return callEndOf(item)?.side !== 'output' && !hasLastingEffect(item)
    case 'reasoning':
    case 'function_call_output':
    case 'custom_tool_call_output':
    case undefined:
      return false
  }
}

function saysSomething(part: object): boolean {
  return !('text' in part) || part.text !== ''
}
