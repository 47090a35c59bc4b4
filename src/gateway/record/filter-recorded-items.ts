/**
 * Keeps of an answer what is to be kept at all. Its client was told everything: what stands behind
 * something that is left out keeps the name that it was told by, which comes of its place.
 */
import { itemId } from '../../core/turn-derived-ids.ts'
import type { Item } from '../../core/item.ts'
import type { Recorder } from './recorder-interface.ts'
import type { ItemRetentionRule } from './record-turn-on-demand.ts'

export function filterRecordedItems(
  isKept: ItemRetentionRule['isKept'],
  recorder: Recorder,
  turnId: string,
): Recorder {
  let isAsTold = true
  return {
    ...recorder,
    itemEnded(item, index) {
      if (isKept(item)) recorder.itemEnded(isAsTold ? item : named(item, turnId, index), index)
      else isAsTold = false
    },
  }
}

function named(item: Item, turnId: string, index: number): Item {
  if (item.type === 'opaque' || (item.id ?? '') !== '') return item
  return { ...item, id: itemId(item.type, turnId, index) }
}
