/**
 * Assigns ids to the items of an answer. An item keeps the id of its upstream, unless another item
 * of the answer has the same id. Other ids are derived from the turn and the index of the item, so
 * that an item has the same id each time the answer is rendered.
 */
import { itemId } from '../../../core/turn-derived-ids.ts'
import type { Item } from '../../../core/item.ts'

export function createItemIdAssigner(turnId: string): (item: Item, index: number) => string {
  const usedIds = new Set<string>()
  return (item, index) => {
    let id = originalItemId(item)
    if (id === '' || usedIds.has(id)) id = itemId(itemTypeName(item), turnId, index)
    while (usedIds.has(id)) id += '_'
    usedIds.add(id)
    return id
  }
}

/** Returns the upstream's id of an item, or an empty text if it has none. */
export function originalItemId(item: Item): string {
  const id = item.type === 'opaque' ? item.raw['id'] : item.id
  return typeof id === 'string' ? id : ''
}

export function itemTypeName(item: Item): string {
  const type = item.type === 'opaque' ? item.raw['type'] : item.type
  return typeof type === 'string' ? type : 'opaque'
}
