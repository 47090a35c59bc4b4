/**
 * Finds from which item on unrecorded reasoning is valid, i.e. reasoning that only the client has stored and sends
 * back. Reasoning is valid if the prompt before it is the same as when it was written. Since the transforms are
 * deterministic, that earlier prompt can be rebuilt from the list.
 *
 * Only some answers are checked. If all items between two answers were certainly sent unchanged in each request so far,
 * then either both answers or neither have a changed prefix. All unrecorded reasoning before the latest answer with a
 * changed prefix is dropped. Some of it may be valid, but finding that out would cost one rebuilt prompt per answer.
 */
import { isUpstreamCompaction } from '../../core/items/compaction-item.ts'
import type { Item } from '../../core/item.ts'
import { isItemOfAnswer } from '../../core/items/is-item-of-answer.ts'
import { isEncryptedOrSigned } from '../../core/reasoning/is-encrypted-or-signed.ts'
import type { EarlierPrompts } from './rebuild-earlier-prompts.ts'
import { hasSamePrefixText } from './hash-prompt-prefix.ts'
import type { OriginalPositions } from '../transform-interface.ts'

/**
 * Returns the index in `items` from which unrecorded reasoning may be sent: from there on, the prompt before each
 * answer with such reasoning is the same as when the answer was written.
 */
export function findValidUnrecordedReasoningStart(
  items: readonly Item[],
  originalPositions: OriginalPositions,
  earlierPrompts: EarlierPrompts,
): number {
  const answers = findUnrecordedAnswers(items)
  const positionOf = (answer: number): number | null =>
    originalPositions[answers[answer] ?? -1] ?? null
  const isUnchanged = (answer: number): boolean => {
    const position = positionOf(answer)
    const prefix = position === null ? null : earlierPrompts.rebuildPrompt(position)
    return prefix !== null && startsWithItems(items, prefix)
  }
  const havePrefixesOfOneState = (older: number, newer: number): boolean => {
    const [start, end] = [positionOf(older), positionOf(newer)]
    return start !== null && end !== null && !earlierPrompts.mayHaveChangedBetween(start, end)
  }
  // Invariant: each answer from `firstValid` on has an unchanged prefix.
  let firstValid = answers.length
  for (let checks = 0; firstValid > 0 && checks < MAX_CHECKS; checks += 1) {
    let oldest = firstValid - 1
    while (oldest > 0 && havePrefixesOfOneState(oldest - 1, firstValid - 1)) oldest -= 1
    if (isUnchanged(oldest)) firstValid = oldest
    else return answers[findFirst(oldest + 1, firstValid, isUnchanged)] ?? items.length
  }
  return 0
}

/**
 * The maximum number of answers that are checked, the latest first, until one has a changed prefix. If none of them
 * has, older reasoning is assumed to be valid; if it is not, the upstream rejects it.
 */
const MAX_CHECKS = 32

/**
 * Returns the smallest number from `start` up to `end` that passes, or `end` if none below it does. Uses a binary
 * search: if a number passes, all greater ones must pass, too.
 */
function findFirst(start: number, end: number, passes: (number: number) => boolean): number {
  let [low, high] = [start, end]
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    if (passes(middle)) high = middle
    else low = middle + 1
  }
  return low
}

/**
 * Returns the index at which each answer with unrecorded reasoning starts. Items after an upstream's compaction count
 * as a new answer.
 */
function findUnrecordedAnswers(items: readonly Item[]): readonly number[] {
  const starts = new Set<number>()
  let start = 0
  for (const [index, item] of items.entries()) {
    if (!isItemOfAnswer(item) || isUpstreamCompaction(item)) start = index + 1
    else if (isUnrecordedReasoning(item)) starts.add(start)
  }
  return [...starts]
}

/** True for encrypted or signed reasoning that the gateway has not recorded, so that only the client stores it. */
export function isUnrecordedReasoning(item: Item): boolean {
  return item.type === 'reasoning' && item.origin === undefined && isEncryptedOrSigned(item)
}

function startsWithItems(items: readonly Item[], prefix: readonly Item[]): boolean {
  return prefix.every((item, index) => hasSamePrefixText(item, items[index]))
}
