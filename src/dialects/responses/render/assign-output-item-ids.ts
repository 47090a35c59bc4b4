/**
 * Names the items of one answer. An item's own id is kept if no other item of the answer has it;
 * what came without one is named after its turn and its place, the same however often it is asked.
 */
import { itemId } from '../../../core/turn-derived-ids.ts'
import type { Item } from '../../../core/item.ts'

export function createItemIdAssigner(turnId: string): (item: Item, index: number) => string {
  const taken = new Set<string>()
  return (item, index) => {
    let id = originalItemId(item)
    if (id === '' || taken.has(id)) id = itemId(itemTypeName(item), turnId, index)
    while (taken.has(id)) id += '_'
    taken.add(id)
    return id
  }
}

/** Empty for an item that came without one. */
export function originalItemId(item: Item): string {
  const id = item.type === 'opaque' ? item.raw['id'] : item.id
  return typeof id === 'string' ? id : ''
}

export function itemTypeName(item: Item): string {
  const type = item.type === 'opaque' ? item.raw['type'] : item.type
  return typeof type === 'string' ? type : 'opaque'
}
