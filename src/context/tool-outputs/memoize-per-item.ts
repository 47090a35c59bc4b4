/**
 * Caches the result of editing an item, for as long as the item object exists. The items of a conversation
 * stay the same objects between its requests. One result per item is stored, for the latest settings.
 */
import type { Item } from '../../core/item.ts'

export type ItemMemo = (item: Item, settings: string, edit: () => Item) => Item

export function createItemMemo(): ItemMemo {
  const results = new WeakMap<Item, { readonly settings: string; readonly item: Item }>()
  return (item, settings, edit) => {
    const cached = results.get(item)
    if (cached?.settings === settings) return cached.item
    const result = edit()
    results.set(item, { settings, item: result })
    return result
  }
}
