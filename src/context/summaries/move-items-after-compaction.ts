/**
 * Moves items that come before Anthropic's own compaction to the position after the answer that contains it. Otherwise
 * the model would not see them: Anthropic's API ignores items before a compaction, except leading instructions. The
 * moved items keep their order.
 *
 * This transform moves inserted items, such as memory layers, so it runs after all transforms that insert items.
 * `apply-compaction.ts` has to move the items of the conversation itself when it drops the replaced items. Otherwise an
 * instruction from the middle of the conversation would look like a leading one.
 */
import { replacesUserMessages } from '../../core/items/compaction-item.ts'
import { countLeadingInstructions } from '../../core/items/leading-instructions.ts'
import type { Item } from '../../core/item.ts'
import type { Note } from '../../core/note.ts'
import { isToolCallOutput } from '../../core/items/tool-call-pairs.ts'
import { markIndexesInsidePairs, isNonAssistantMessage } from '../cut-points.ts'
import { ITEM_TRAITS } from '../detect-item-traits.ts'
import type { TransformResult, Transform } from '../transform-interface.ts'

export function moveItemsAfterCompaction(): Transform {
  return {
    name: 'behind-compaction',
    requiredTraits: ITEM_TRAITS.compaction,
    prefixChanges: 'permanent',
    run: (items) => moveCompactedAnswerToFront(items, countLeadingInstructions(items)),
  }
}

/**
 * Moves the answer that contains the compaction to the front, directly after the first `head` items. The other items
 * before the compaction thus come after the answer.
 */
export function moveCompactedAnswerToFront(items: readonly Item[], head: number): TransformResult {
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
 * Returns the index after the answer that contains the compaction: reasoning, text, calls and their outputs. After
 * outputs of gateway tools, further items of the same origin belong to the answer, too.
 */
function findAnswerEnd(items: readonly Item[], compaction: number): number {
  const isInsidePair = markIndexesInsidePairs(items, compaction)
  const origin = items[compaction]?.origin
  for (let index = compaction + 1; index < items.length; index += 1) {
    const [before, after] = [items[index - 1], items[index]]
    if (before === undefined || after === undefined || isInsidePair[index] === 1) continue
    if (origin !== undefined && after.origin === origin) continue
    if (isNonAssistantMessage(after) || isToolCallOutput(before)) return index
  }
  return items.length
}
