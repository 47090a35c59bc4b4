/**
 * Assigns ids to the items of an answer or of a list. An item keeps its original id, unless an
 * earlier item has the same id. The id of every other item is derived from its position in its
 * turn, so that an item has the same id each time it is rendered.
 */
import { itemId, type ItemPosition } from '../../../core/turn-derived-ids.ts'
import type { Item } from '../../../core/item.ts'

export function createItemIdAssigner(): (item: Item, position: ItemPosition) => string {
  const usedIds = new Set<string>()
  return (item, { turnId, side, index }) => {
    const { id: originalId, type } = item.type === 'opaque' ? item.raw : item
    let id = typeof originalId === 'string' ? originalId : ''
    if (id === '' || usedIds.has(id)) {
      id = itemId(typeof type === 'string' ? type : 'opaque', turnId, index, side)
    }
    while (usedIds.has(id)) id += '_'
    usedIds.add(id)
    return id
  }
}
