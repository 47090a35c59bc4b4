/** Leaves items out, with a note for each; the same list when there is none. */
import type { Item } from '../core/item.ts'
import type { Note } from '../core/note.ts'
import type { TransformResult } from './transform-interface.ts'

export function filterItems(
  items: readonly Item[],
  keeps: (at: number, item: Item) => boolean,
  why: string,
): TransformResult {
  const notes: Note[] = []
  const kept = items.filter((item, at) => {
    if (keeps(at, item)) return true
    notes.push({ did: 'dropped', at, why })
    return false
  })
  return notes.length === 0 ? { items, notes } : { items: kept, notes }
}
