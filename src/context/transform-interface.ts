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
 * Tells whether a transform can treat the same item differently in a later request of the conversation.
 * - `never`: the transform gives the same result for an item in all requests.
 * - `permanent`: the transform can begin to change an item in a later request, and then changes it in all further requests.
 *   So if an item is unchanged in this request, it was unchanged in all earlier requests.
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
