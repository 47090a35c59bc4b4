/**
 * Keeps of an answer what is to be kept at all. Its client was told everything: what stands behind
 * something that is left out keeps the name that it was told by, which comes of its place.
 */
import { itemId } from '../conversation/ids.ts'
import type { Item } from '../conversation/item.ts'
import type { Recorder } from './recorder.ts'
import type { Worth } from './remember-turn.ts'

export function keepOnly(isKept: Worth['isKept'], recorder: Recorder, turnId: string): Recorder {
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
