/** Puts another item in the place of some, with a note for each; the same list when there is none. */
import type { Item } from '../core/item.ts'
import type { Note } from '../core/note.ts'
import type { TransformResult } from './transform-interface.ts'

/** `change` gives the very same item for one that is to stay. */
export function replaceItems(
  items: readonly Item[],
  change: (item: Item, at: number) => Item,
  why: string,
): TransformResult {
  const notes: Note[] = []
  const rebuilt = items.map((item, at) => {
    const changed = change(item, at)
    if (changed !== item) notes.push({ did: 'changed', at, why })
    return changed
  })
  return notes.length === 0 ? { items, notes } : { items: rebuilt, notes }
}
