/** Builds the results of transforms that drop or replace single items, with a note for each change. */
import type { Item } from '../core/item.ts'
import type { Note } from '../core/note.ts'
import type { TransformResult } from './transform-interface.ts'

/** The item that replaces another one, or `null` to drop that one; `why` is the code of the note. */
export interface ItemEdit {
  readonly replacement: Item | null
  readonly why: string
}

/**
 * Returns the list after calling `edit` for each item, in order. An item stays if `edit` returns `null` or the
 * same item; the same list is returned if all items stay. `edited` holds the result so far.
 */
export function editItems(
  items: readonly Item[],
  edit: (item: Item, index: number, edited: readonly Item[]) => ItemEdit | null,
): TransformResult {
  const notes: Note[] = []
  const edited: Item[] = []
  for (const [index, item] of items.entries()) {
    const change = edit(item, index, edited)
    const replacement = change === null ? item : change.replacement
    if (replacement !== null) edited.push(replacement)
    if (change === null || replacement === item) continue
    notes.push({ did: replacement === null ? 'dropped' : 'changed', at: index, why: change.why })
  }
  return { items: notes.length === 0 ? items : edited, notes }
}

/** Returns the list without the items for which `keeps` is false. */
export function filterItems(
  items: readonly Item[],
  keeps: (index: number, item: Item) => boolean,
  why: string,
): TransformResult {
  const drop = { replacement: null, why }
  return editItems(items, (item, index) => (keeps(index, item) ? null : drop))
}

/** Returns the list with each item replaced by the result of `change`: the same object for an item that stays. */
export function replaceItems(
  items: readonly Item[],
  change: (item: Item, index: number) => Item,
  why: string,
): TransformResult {
  return editItems(items, (item, index) => ({ replacement: change(item, index), why }))
}
