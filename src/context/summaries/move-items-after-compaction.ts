/**
 * Tells behind Anthropic's own compaction what is still to be told and stands in front of it: there its
 * API would read nothing but the instructions at the head. It follows the answer that the compaction is
 * part of, in its order, and keeps that place.
 *
 * It comes behind everything that adds to the list, such as notes and memories, and in front of what
 * judges reasoning. What was said before is moved where it is dropped (`apply-compaction.ts`): without
 * the rest, an instruction in the middle would look like one at the head.
 */
import { replacesUserMessages } from '../../core/items/compaction-item.ts'
import { countLeadingInstructions } from '../../core/items/leading-instructions.ts'
import type { Item } from '../../core/item.ts'
import type { Note } from '../../core/note.ts'
import { UNPAIRED, isCallOutput, findToolCallPairs } from '../../core/items/tool-call-pairs.ts'
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

/** The same behind a head that is known. */
export function moveAnswerFirst(items: readonly Item[], head: number): TransformResult {
  const newest = items.findLastIndex(replacesUserMessages)
  if (newest <= head) return { items, notes: [] }
  const end = endOfAnswer(items, newest)
  const answer = items.slice(newest, end)
  const notes = answer.map((_, at): Note => ({ did: 'moved', at: newest + at, why: WHY }))
  const early = items.slice(head, newest)
  return { items: [...items.slice(0, head), ...answer, ...early, ...items.slice(end)], notes }
}

const WHY = 'compaction-first'

/**
 * As far as it hangs together: what it thought, said and called, up to the last of the outputs. Where
 * the house has answered them, it went on behind these without a word of what stands in front.
 */
function endOfAnswer(items: readonly Item[], compaction: number): number {
  const partners = findToolCallPairs(items)
  const origin = items[compaction]?.origin
  let furthestPartner = UNPAIRED
  for (let at = compaction + 1; at < items.length; at += 1) {
    const [before, after] = [items[at - 1], items[at]]
    furthestPartner = Math.max(furthestPartner, partners[at - 1] ?? UNPAIRED)
    if (before === undefined || after === undefined || furthestPartner >= at) continue
    if (origin !== undefined && after.origin === origin) continue
    if (isNonAssistantMessage(after) || isCallOutput(before)) return at
  }
  return items.length
}
