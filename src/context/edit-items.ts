/** Builds the result of transforms that drop or replace items one by one, with a note for each of them. */
import type { Item } from '../core/item.ts'
import type { Note } from '../core/note.ts'
import type { TransformResult } from './transform-interface.ts'

/** The replacement of an item, or `null` to drop it; `why` is the code of the note. */
export interface ItemEdit {
  readonly item: Item | null
  readonly why: string
}

/**
 * Applies `edit` to each item in order. An item stays if `edit` returns `null` or the same item.
 * `edited` holds the items that precede it in the result. Returns the same list if all items stay.
 */
export function editItems(
  items: readonly Item[],
  edit: (item: Item, index: number, edited: readonly Item[]) => ItemEdit | null,
): TransformResult {
  const notes: Note[] = []
  const edited: Item[] = []
  for (const [index, item] of items.entries()) {
    const change = edit(item, index, edited)
    const replacement = change === null ? item : change.item
    if (replacement !== null) edited.push(replacement)
    if (change === null || replacement === item) continue
    notes.push({ did: replacement === null ? 'dropped' : 'changed', at: index, why: change.why })
  }
  return { items: notes.length === 0 ? items : edited, notes }
}

/** Drops the items for which `keeps` is false. */
export function filterItems(
  items: readonly Item[],
  keeps: (index: number, item: Item) => boolean,
  why: string,
): TransformResult {
  const drop = { item: null, why }
  return editItems(items, (item, index) => (keeps(index, item) ? null : drop))
}

/** Replaces items. `change` returns the same object for an item that stays. */
export function replaceItems(
  items: readonly Item[],
  change: (item: Item, index: number) => Item,
  why: string,
): TransformResult {
  return editItems(items, (item, index) => ({ item: change(item, index), why }))
}
