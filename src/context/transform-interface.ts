/**
 * Defines a transform: one step that edits the item list before it is sent to an upstream.
 *
 * `test/context/laws/laws.test.ts` checks these rules for each transform and for complete pipelines: a
 * transform does not modify its input; a second run on its result changes nothing; unchanged items and lists are
 * returned as the same objects; and each dropped, changed, moved or added item has a note.
 */
import type { Item } from '../core/item.ts'
import type { Note } from '../core/note.ts'

export interface Transform {
  readonly name: string
  /**
   * The transform is skipped if no item of the list has any of these traits (a sum of `ITEM_TRAITS`), because it would
   * change nothing. Without this field, it always runs.
   */
  readonly requiredTraits?: number
  /** The changes that later items can cause in the result for earlier items. Without this field: any. */
  readonly prefixChanges?: PrefixChanges
  /**
   * Edits `items`. `earlierTransforms` are those that have run before in the same pipeline, with their input lists;
   * only `reasoning/drop-invalid-reasoning.ts` reads them.
   */
  readonly run: (
    items: readonly Item[],
    originalPositions?: OriginalPositions,
    earlierTransforms?: readonly AppliedTransform[],
  ) => TransformResult
}

/**
 * Says whether a transform may change an item later, when the conversation has become longer.
 * - `never`: the transform returns the same for the item in every longer conversation.
 * - `permanent`: the transform may send the item unchanged at first and change it in a later request; from then on, it
 *   changes the item in every request. So an item that is unchanged now was unchanged in all earlier requests.
 *
 * `reasoning/rebuild-earlier-prompts.ts` uses this value: to compute what an earlier request sent, it can often skip the
 * transform.
 */
export type PrefixChanges = 'never' | 'permanent'

/**
 * For each item its index in the list before the first transform; `null` for an item that a transform added. E.g.
 * `[0, 2, null]` if item 1 was dropped and a new item was added at the end.
 */
export type OriginalPositions = readonly (number | null)[]

/**
 * The list that a transform has edited, and the notes about its changes. A note names its item by the index (`at`) in
 * the list before this edit.
 */
export interface TransformResult {
  readonly items: readonly Item[]
  readonly notes: readonly Note[]
}

/** A list of items, the notes about its changes, and the original position of each item. */
export interface PositionedItems extends TransformResult {
  readonly originalPositions: OriginalPositions
}

/** A transform that has run, with its input list (not its result) and the notes that it wrote. */
export interface AppliedTransform extends PositionedItems {
  readonly transform: Transform
}
