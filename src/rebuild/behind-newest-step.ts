/**
 * From where on reasoning stands where it was made, of which nobody has recorded what it was made behind:
 * a client that has nothing stored brings it along itself. What its answer was made behind is what was
 * sent of the conversation up to there, and a plan says the same of the same list. So it is told by
 * making the plan again, answer by answer, from the newest one back to the newest step.
 *
 * What is older is left out, also what no step has touched: which of it was sent since then cannot be
 * told without asking for each answer what was kept when it was made.
 */
import { isMadeUpstream } from '../conversation/compaction.ts'
import type { Item } from '../conversation/item.ts'
import { isOfModel } from '../conversation/of-model.ts'
import { isSealed } from '../conversation/sealed-reasoning.ts'
import { isToldAlike } from './prefix.ts'
import type { Places } from './transform.ts'

/** What would be sent of so many items from the beginning; `null` if all would be different. */
export type SentOf = (length: number) => readonly Item[] | null

export function behindNewestStep(items: readonly Item[], places: Places, sentOf: SentOf): number {
  let border = items.length
  for (const at of answersBroughtAlong(items).slice(-MOST_ASKED).toReversed()) {
    const place = places[at] ?? null
    const before = place === null ? null : sentOf(place)
    if (before === null || !beginsWith(items, before)) return border
    border = at
  }
  return 0
}

/** Beyond that it is believed, and the upstream has the last word. */
const MOST_ASKED = 32

/**
 * Where the answers begin that hold reasoning of the kind. What an upstream has made behind a compaction
 * of its own, it has made behind that.
 */
function answersBroughtAlong(items: readonly Item[]): readonly number[] {
  const starts = new Set<number>()
  let start = 0
  for (const [at, item] of items.entries()) {
    if (!isOfModel(item) || isMadeUpstream(item)) start = at + 1
    else if (isUnrecorded(item)) starts.add(start)
  }
  return [...starts]
}

export function isUnrecorded(item: Item): boolean {
  return item.type === 'reasoning' && item.origin === undefined && isSealed(item)
}

function beginsWith(items: readonly Item[], before: readonly Item[]): boolean {
  return before.every((item, at) => isToldAlike(item, items[at]))
}
