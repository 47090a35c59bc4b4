/**
 * Rebuilds what earlier requests of a conversation have sent, in order to find out whether reasoning was written after
 * another prompt. The transforms run again on the list as it was then, i.e. on its first items. The rerun starts at the
 * first transform that may have had another result for this shorter list; the result of the transforms before it is
 * reused.
 */
import type { Item } from '../../core/item.ts'
import { continueTransforms, type PipelineResult } from '../list-and-run-transforms.ts'
import { isItemOfAnswer } from '../../core/items/is-item-of-answer.ts'
import { isUserMessage } from '../../core/items/rounds-and-pinned-items.ts'
import { isNonAssistantMessage } from '../cut-points.ts'
import type { AppliedTransform, OriginalPositions } from '../transform-interface.ts'

export interface EarlierPrompts {
  /**
   * Returns the prompt that was sent when the conversation had only its first `conversationLength` items, or `null` if other
   * gateway tools were offered in that request.
   */
  readonly rebuildPrompt: (conversationLength: number) => readonly Item[] | null
  /**
   * True if an item of the conversation with an index from `start` up to `end` (exclusive) may have been sent
   * differently in an earlier request.
   */
  readonly mayHaveChangedBetween: (start: number, end: number) => boolean
}

export function rebuildEarlierPrompts(
  result: Pick<PipelineResult, 'items' | 'originalPositions' | 'transforms'>,
): EarlierPrompts {
  const { transforms: appliedTransforms } = result
  const first = appliedTransforms.findIndex(mayHaveChanged)
  const { items, originalPositions } = appliedTransforms[first] ?? result
  const rest = first < 0 ? [] : appliedTransforms.slice(first)
  const transforms = rest.map(({ transform }) => transform)
  let changedBefore: Uint32Array | null = null
  return {
    rebuildPrompt(length) {
      // The reused result is in the original order and has no added items. So its items of the shorter list end before
      // the first item with an original position of `length` or more.
      const next = originalPositions.findIndex(
        (position) => position !== null && position >= length,
      )
      const end = next < 0 ? items.length : next
      const prefix = {
        items: items.slice(0, end),
        notes: [],
        originalPositions: originalPositions.slice(0, end),
      }
      return continueTransforms(prefix, transforms).items
    },
    mayHaveChangedBetween(start, end) {
      changedBefore ??= countPossiblyChangedItems(appliedTransforms[0]?.items ?? items, {
        transforms: rest,
        originalPositions: result.originalPositions,
      })
      return (changedBefore[end] ?? 0) > (changedBefore[start] ?? 0)
    },
  }
}

function mayHaveChanged({ transform: { prefixChanges }, notes }: AppliedTransform): boolean {
  return prefixChanges === undefined || (prefixChanges === 'permanent' && notes.length > 0)
}

/**
 * Returns a running count: at each index of the conversation `items`, how many items before it may have been sent
 * differently in an earlier request. So no such item is between two indexes with the same count.
 *
 * `transforms` begin with the first one that may have had another result for a shorter
 * list. `originalPositions` are those of the final list.
 */
function countPossiblyChangedItems(
  items: readonly Item[],
  { transforms, originalPositions }: Pick<PipelineResult, 'transforms' | 'originalPositions'>,
): Uint32Array {
  const mayDiffer = new Uint8Array(items.length)
  let lastMoved = 0
  for (const { transform, notes, originalPositions: positions } of transforms) {
    for (const { did, at = -1 } of notes) {
      const position = positions[at] ?? null
      if (position === null) continue
      if (transform.prefixChanges !== 'never') mayDiffer[position] = 1
      if (did === 'moved') lastMoved = Math.max(lastMoved, position)
    }
  }
  markAddedItems(mayDiffer, items, transforms, originalPositions)
  markRestOfAnswers(mayDiffer, items)
  // A moved output may have been missing in all requests between its call and itself. So all items before it are
  // marked.
  mayDiffer.fill(1, 0, lastMoved)
  const before = new Uint32Array(items.length + 1)
  for (const [index, mark] of mayDiffer.entries()) before[index + 1] = (before[index] ?? 0) + mark
  return before
}

/**
 * Marks the item before each added item, because earlier requests may have sent the added item at another position.
 * Marks messages, too, because each of them may have moved added items, or changed the result of a transform that may
 * change any item.
 */
function markAddedItems(
  mayDiffer: Uint8Array,
  items: readonly Item[],
  transforms: readonly AppliedTransform[],
  positions: OriginalPositions,
): void {
  const mayChangeAny = transforms.some(({ transform }) => transform.prefixChanges === undefined)
  if (!mayChangeAny && !positions.includes(null)) return
  for (const [index, position] of positions.entries()) {
    if (position === null) mayDiffer[positions[index - 1] ?? 0] = 1
  }
  for (const [index, item] of items.entries()) {
    if (isNonAssistantMessage(item) && (mayChangeAny || !isUserMessage(item))) mayDiffer[index] = 1
  }
}

/**
 * If an item of an answer is marked, marks the rest of the answer, too: one of its later tool rounds may have begun
 * after the marked item.
 */
function markRestOfAnswers(mayDiffer: Uint8Array, items: readonly Item[]): void {
  for (const [index, item] of items.entries()) {
    const next = items[index + 1]
    if (mayDiffer[index] !== 1 || next === undefined) continue
    if (isItemOfAnswer(item) && isItemOfAnswer(next)) mayDiffer[index + 1] = 1
  }
}
