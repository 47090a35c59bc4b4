/**
 * Remembers what was made of an item, for as long as the item itself is remembered: between the
 * requests of a conversation its items stay the same objects, and so does what is made of them. Of each
 * item one thing is kept, by the settings that it was last made with.
 */
import type { Item } from '../../core/item.ts'

export type ItemMemo = (item: Item, settings: string, make: () => Item) => Item

export function createItemMemo(): ItemMemo {
  const results = new WeakMap<Item, { readonly settings: string; readonly item: Item }>()
  return (item, settings, make) => {
    const known = results.get(item)
    if (known?.settings === settings) return known.item
    const made = make()
    results.set(item, { settings, item: made })
    return made
  }
}
