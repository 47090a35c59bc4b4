/**
 * From where on reasoning stands where it was made, of which nobody has recorded what it was made behind:
 * a client that has nothing stored brings it along itself. What its answer was made behind is what was
 * sent of the conversation up to there, and a plan says the same of the same list. So it is told by
 * making the plan again for some of the answers, back to the newest one that something else was sent of.
 *
 * Not for each: between two answers that nothing stands between which is sent otherwise than it came, only
 * what stands before both can have changed, and what was as it is now at the older one has been so since.
 *
 * What is older is left out, also what no step has touched: which of it was sent since then cannot be
 * told without asking for each answer what was kept when it was made.
 */
import { isUpstreamCompaction } from '../../core/items/compaction-item.ts'
import type { Item } from '../../core/item.ts'
import { isModelItem } from '../../core/items/is-model-item.ts'
import { isEncryptedReasoning } from '../../core/reasoning/is-encrypted-or-signed.ts'
import type { PrefixHistory } from './recompute-prefixes.ts'
import { hasSamePrefixText } from './hash-prompt-prefix.ts'
import type { OriginalPositions } from '../transform-interface.ts'

export function findValidReasoningStart(
  items: readonly Item[],
  places: OriginalPositions,
  past: PrefixHistory,
): number {
  const answers = answersBroughtAlong(items)
  const placeOf = (answer: number): number | null => places[answers[answer] ?? -1] ?? null
  const isAsBefore = (answer: number): boolean => {
    const place = placeOf(answer)
    const before = place === null ? null : past.sentOf(place)
    return before !== null && beginsWith(items, before)
  }
  const isAlike = (older: number, newer: number): boolean => {
    const [from, to] = [placeOf(older), placeOf(newer)]
    return from !== null && to !== null && !past.isTouched(from, to)
  }
  // From this one on they are all as before.
  let border = answers.length
  for (let asked = 0; border > 0 && asked < MOST_ASKED; asked += 1) {
    let oldest = border - 1
    while (oldest > 0 && isAlike(oldest - 1, border - 1)) oldest -= 1
    if (isAsBefore(oldest)) border = oldest
    else return answers[firstFrom(oldest + 1, border, isAsBefore)] ?? items.length
  }
  return 0
}

/** Beyond that it is believed, and the upstream has the last word. */
const MOST_ASKED = 32

/** The first number from the one up to the other of which it is so, if it is so of all behind it. */
function firstFrom(from: number, to: number, isSo: (number: number) => boolean): number {
  let [low, high] = [from, to]
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    if (isSo(middle)) high = middle
    else low = middle + 1
  }
  return low
}

/**
 * Where the answers begin that hold reasoning of the kind. What an upstream has made behind a compaction
 * of its own, it has made behind that.
 */
function answersBroughtAlong(items: readonly Item[]): readonly number[] {
  const starts = new Set<number>()
  let start = 0
  for (const [at, item] of items.entries()) {
    if (!isModelItem(item) || isUpstreamCompaction(item)) start = at + 1
    else if (isUnrecordedReasoning(item)) starts.add(start)
  }
  return [...starts]
}

export function isUnrecordedReasoning(item: Item): boolean {
  return item.type === 'reasoning' && item.origin === undefined && isEncryptedReasoning(item)
}

function beginsWith(items: readonly Item[], before: readonly Item[]): boolean {
  return before.every((item, at) => hasSamePrefixText(item, items[at]))
}
