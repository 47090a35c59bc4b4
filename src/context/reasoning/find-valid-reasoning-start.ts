/**
 * Finds where valid reasoning begins among reasoning that the gateway has not recorded: clients without
 * stored conversations send it back themselves. Reasoning is valid if the prompt before it is still the
 * same. Since the transforms are deterministic, that earlier prompt can be computed again from the list.
 *
 * Only some answers are checked. If no item between two answers may have been transformed differently before,
 * then either both or neither have a changed prefix. All reasoning before the latest invalid answer is dropped,
 * even if it is valid again now: deciding that would need one computation per answer.
 */
import { isUpstreamCompaction } from '../../core/items/compaction-item.ts'
import type { Item } from '../../core/item.ts'
import { isModelItem } from '../../core/items/is-model-item.ts'
import { isEncryptedReasoning } from '../../core/reasoning/is-encrypted-or-signed.ts'
import type { EarlierPrompts } from './rebuild-earlier-prompts.ts'
import { hasSamePrefixText } from './hash-prompt-prefix.ts'
import type { OriginalPositions } from '../transform-interface.ts'

/** Returns the index in `items`, which are the final list, of the first answer whose prefix is unchanged. */
export function findValidReasoningStart(
  items: readonly Item[],
  places: OriginalPositions,
  history: EarlierPrompts,
): number {
  const answers = findUnrecordedAnswers(items)
  const placeOfAnswer = (answer: number): number | null => places[answers[answer] ?? -1] ?? null
  const isUnchanged = (answer: number): boolean => {
    const place = placeOfAnswer(answer)
    const prefix = place === null ? null : history.promptAt(place)
    return prefix !== null && startsWithItems(items, prefix)
  }
  const hasSameState = (older: number, newer: number): boolean => {
    const [from, to] = [placeOfAnswer(older), placeOfAnswer(newer)]
    return from !== null && to !== null && !history.isTouched(from, to)
  }
  // Invariant: every answer at or after `validFrom` has an unchanged prefix.
  let validFrom = answers.length
  for (let checks = 0; validFrom > 0 && checks < MAX_CHECKS; checks += 1) {
    let oldest = validFrom - 1
    while (oldest > 0 && hasSameState(oldest - 1, validFrom - 1)) oldest -= 1
    if (isUnchanged(oldest)) validFrom = oldest
    else return answers[findFirst(oldest + 1, validFrom, isUnchanged)] ?? items.length
  }
  return 0
}

/** Max number of checks. Older reasoning is then assumed to be valid; the upstream rejects it if it is not. */
const MAX_CHECKS = 32

/** Binary search for the first number from `from` to `to` that passes; all numbers after it pass, too. */
function findFirst(from: number, to: number, passes: (number: number) => boolean): number {
  let [low, high] = [from, to]
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    if (passes(middle)) high = middle
    else low = middle + 1
  }
  return low
}

/** Returns the starts of the answers with unrecorded reasoning. An upstream-made compaction ends its prefix. */
function findUnrecordedAnswers(items: readonly Item[]): readonly number[] {
  const starts = new Set<number>()
  let start = 0
  for (const [index, item] of items.entries()) {
    if (!isModelItem(item) || isUpstreamCompaction(item)) start = index + 1
    else if (isUnrecordedReasoning(item)) starts.add(start)
  }
  return [...starts]
}

export function isUnrecordedReasoning(item: Item): boolean {
  return item.type === 'reasoning' && item.origin === undefined && isEncryptedReasoning(item)
}

function startsWithItems(items: readonly Item[], prefix: readonly Item[]): boolean {
  return prefix.every((item, index) => hasSamePrefixText(item, items[index]))
}
