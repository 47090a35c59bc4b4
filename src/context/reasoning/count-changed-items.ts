/**
 * Counts, for each index of a conversation, the touched items before it: items that were changed by a
 * transform which may have treated them differently in an earlier request. If no touched item is between two
 * answers, the prompts of both had the same items before the first answer.
 */
import type { Item } from '../../core/item.ts'
import { isModelItem } from '../../core/items/is-model-item.ts'
import { isUserMessage } from '../../core/items/rounds-and-pinned-items.ts'
import { isNonAssistantMessage } from '../cut-points.ts'
import type { PipelineResult } from '../list-and-run-transforms.ts'
import type { AppliedTransform, OriginalPositions } from '../transform-interface.ts'

/**
 * Returns for each index the number of changed items before it. `stages`: the transforms that may have
 * acted differently; `places`: the original positions of the final list.
 */
export function countChangedItemsBefore(
  items: readonly Item[],
  { stages, places }: Pick<PipelineResult, 'stages' | 'places'>,
): Uint32Array {
  const touched = new Uint8Array(items.length)
  touchNotedItems(touched, stages)
  touchAddedItems(touched, items, stages, places)
  touchRestOfAnswers(touched, items)
  // Touches all items before a moved output, which may have been missing in all requests since its call.
  touched.fill(1, 0, findLastMoved(stages))
  const before = new Uint32Array(items.length + 1)
  for (const [index, is] of touched.entries()) before[index + 1] = (before[index] ?? 0) + is
  return before
}

function touchNotedItems(touched: Uint8Array, stages: readonly AppliedTransform[]): void {
  for (const { transform, notes, places } of stages) {
    if (transform.prefixStability === 'none') continue
    for (const { at } of notes) {
      const place = at === undefined ? null : places[at]
      if (typeof place === 'number') touched[place] = 1
    }
  }
}

/**
 * Marks the item before each added one as touched. An added item may have had another position before a message
 * that came in the middle of a round; a transform without prefix stability may act anew at any message.
 */
function touchAddedItems(
  touched: Uint8Array,
  items: readonly Item[],
  stages: readonly AppliedTransform[],
  places: OriginalPositions,
): void {
  const hasUnstable = stages.some(({ transform }) => transform.prefixStability === undefined)
  if (!hasUnstable && !places.includes(null)) return
  for (const [index, place] of places.entries()) {
    if (place === null) touched[places[index - 1] ?? 0] = 1
  }
  for (const [index, item] of items.entries()) {
    if (isNonAssistantMessage(item) && (hasUnstable || !isUserMessage(item))) touched[index] = 1
  }
}

/** Marks all later items of the same answer as touched: the rest of an answer may begin after the touched item. */
function touchRestOfAnswers(touched: Uint8Array, items: readonly Item[]): void {
  for (const [index, item] of items.entries()) {
    const next = items[index + 1]
    if (touched[index] !== 1 || next === undefined) continue
    if (isModelItem(item) && isModelItem(next)) touched[index + 1] = 1
  }
}

function findLastMoved(stages: readonly AppliedTransform[]): number {
  let last = 0
  for (const { notes, places } of stages) {
    for (const { did, at } of notes) {
      if (did === 'moved') last = Math.max(last, places[at ?? 0] ?? 0)
    }
  }
  return last
}
