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
  /** Traits of `scan-items.ts`. The transform is skipped for a list that has none of them. Undefined: always run. */
  readonly requiredTraits?: number
  /** The changes of the result for earlier items that may occur when the conversation grows. Undefined: any. */
  readonly prefixChanges?: PrefixChanges
  /** `earlierStages`: the transforms that ran before in the pipeline. Only the check of reasoning reads them. */
  readonly run: (
    items: readonly Item[],
    originalPositions?: OriginalPositions,
    earlierStages?: readonly AppliedTransform[],
  ) => TransformResult
}

/**
 * The changes of the result for earlier items that may occur when the conversation grows. `never`: for a list that ends
 * where an answer begins, the result is a prefix of the result for each longer list. `permanent`: an item may be changed
 * later, but then stays changed, so an item that is unchanged now was unchanged in each shorter list. Thus
 * `reasoning/rebuild-earlier-prompts.ts` can often rebuild earlier prompts without running the transform again.
 */
export type PrefixChanges = 'never' | 'permanent'

/**
 * For each item its index in the list that the pipeline started with; `null` for an added item. E.g. `[0, 2, null]`
 * if item 1 was dropped and a new item was added at the end.
 */
export type OriginalPositions = readonly (number | null)[]

/** The edited list. `at` of a note is an index in the list before the edit. */
export interface TransformResult {
  readonly items: readonly Item[]
  readonly notes: readonly Note[]
}

/** A list, the notes about it, and the original position of each item. */
export interface PositionedItems extends TransformResult {
  readonly originalPositions: OriginalPositions
}

/** A transform that has run, with its input list (not its result) and the notes that it wrote. */
export interface AppliedTransform extends PositionedItems {
  readonly transform: Transform
}
