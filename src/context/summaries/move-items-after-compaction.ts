/**
 * Moves the items before Anthropic's own compaction after it, because Anthropic's API reads only the
 * instructions at the head before a compaction. The moved items follow the answer that the compaction is part
 * of, in their order.
 *
 * This transform runs after all that add items, such as notes and memory layers, and before reasoning is checked.
 * `apply-compaction.ts` moves the earlier items of the conversation itself while it drops the others: if
 * these were dropped first, an instruction in the middle would look like one at the head.
 */
import { replacesUserMessages } from '../../core/items/compaction-item.ts'
import { countLeadingInstructions } from '../../core/items/leading-instructions.ts'
import type { Item } from '../../core/item.ts'
import type { Note } from '../../core/note.ts'
import { UNPAIRED, isToolCallOutput, findToolCallPairs } from '../../core/items/tool-call-pairs.ts'
import { isNonAssistantMessage } from '../cut-points.ts'
import { ITEM_TRAITS } from '../scan-items.ts'
import type { TransformResult, Transform } from '../transform-interface.ts'

export function moveItemsAfterCompaction(): Transform {
  return {
    name: 'behind-compaction',
    needs: ITEM_TRAITS.compaction,
    prefixStability: 'lasting',
    run: (items) => moveAnswerFirst(items, countLeadingInstructions(items)),
  }
}

/** Moves the answer with the compaction directly after the first `head` items. */
export function moveAnswerFirst(items: readonly Item[], head: number): TransformResult {
  const start = items.findLastIndex(replacesUserMessages)
  if (start <= head) return { items, notes: [] }
  const end = findAnswerEnd(items, start)
  const answer = items.slice(start, end)
  const notes = answer.map((_, offset): Note => ({
    did: 'moved',
    at: start + offset,
    why: 'compaction-first',
  }))
  const earlier = items.slice(head, start)
  return { items: [...items.slice(0, head), ...answer, ...earlier, ...items.slice(end)], notes }
}

/**
 * Returns the end of the answer with the compaction: reasoning, text and calls up to the last output. If
 * gateway tools wrote the outputs, the next tool round has the same origin and belongs to the answer, too.
 */
function findAnswerEnd(items: readonly Item[], compaction: number): number {
  const partners = findToolCallPairs(items)
  const origin = items[compaction]?.origin
  let furthestPartner = UNPAIRED
  for (let index = compaction + 1; index < items.length; index += 1) {
    const [before, after] = [items[index - 1], items[index]]
    furthestPartner = Math.max(furthestPartner, partners[index - 1] ?? UNPAIRED)
    if (before === undefined || after === undefined || furthestPartner >= index) continue
    if (origin !== undefined && after.origin === origin) continue
    if (isNonAssistantMessage(after) || isToolCallOutput(before)) return index
  }
  return items.length
}
