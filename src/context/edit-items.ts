/** Drops or replaces single items of a list for a transform, and writes a note for each change. */
import type { Item } from '../core/item.ts'
import type { Note } from '../core/note.ts'
import type { TransformResult } from './transform-interface.ts'

/**
 * The edit of one item. `replacement` is sent instead of the item; `null` drops the item. `why` is the code of the
 * note, e.g. `marker-removed`.
 */
export interface ItemEdit {
  readonly replacement: Item | null
  readonly why: string
}

/**
 * Calls `edit` for each item, in order, and returns the edited list with a note for each change. An item stays if
 * `edit` returns `null`, or the item itself as its replacement. If all items stay, the input list itself is returned.
 * `edited` contains the result for the items before the current one.
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

/** Drops the items for which `keeps` is false. `why` is the code of the notes. */
export function filterItems(
  items: readonly Item[],
  keeps: (index: number, item: Item) => boolean,
  why: string,
): TransformResult {
  const drop = { replacement: null, why }
  return editItems(items, (item, index) => (keeps(index, item) ? null : drop))
}

/**
 * Replaces each item by the result of `change`, which returns the item itself if the item stays. `why` is the code of
 * the notes about replaced items.
 */
export function replaceItems(
  items: readonly Item[],
  change: (item: Item, index: number) => Item,
  why: string,
): TransformResult {
  return editItems(items, (item, index) => ({ replacement: change(item, index), why }))
}
