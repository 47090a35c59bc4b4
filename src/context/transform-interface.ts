/**
 * Defines a transform: one step that edits the item list before it is sent to an upstream.
 *
 * `test/context/laws/laws.test.ts` checks these rules for each transform and for complete pipelines: a
 * transform is pure; a second run changes nothing more; unchanged items and lists are returned as the
 * same objects; and each item that is not passed on unchanged has a note.
 */
import type { Item } from '../core/item.ts'
import type { Note } from '../core/note.ts'

export interface Transform {
  readonly name: string
  /** The transform changes nothing in a list that has none of these traits (`scan-items.ts`). Undefined: always run. */
  readonly needs?: number
  /** Declares when an item may change that was unchanged in a shorter list. Undefined: at any time. */
  readonly prefixStability?: PrefixStability
  /**
   * `places`: the position of each item in the list that the pipeline started with. `earlier`: the
   * transforms that ran before in the pipeline, with their input and notes.
   */
  readonly run: (
    items: readonly Item[],
    places?: OriginalPositions,
    earlier?: readonly AppliedTransform[],
  ) => TransformResult
}

/**
 * `none`: for a list that ends where an answer begins, the result is a prefix of the result for each longer
 * list. `lasting`: the result may change when the list grows, but an unchanged item was also unchanged in each
 * such shorter list. Thus `reasoning/rebuild-earlier-prompts.ts` can rebuild earlier prompts without running it.
 */
export type PrefixStability = 'none' | 'lasting'

/**
 * The position of each item in the list that the pipeline started with; `null` for an added item. E.g.
 * `[0, 2, null]` if item 1 was dropped and a new item was added at the end.
 */
export type OriginalPositions = readonly (number | null)[]

/** `at` of a note is an index in the transform's input list. */
export interface TransformResult {
  readonly items: readonly Item[]
  readonly notes: readonly Note[]
}

/** A list, its notes, and the original position of each item. */
export interface PositionedResult extends TransformResult {
  readonly places: OriginalPositions
}

/** A transform that has run: its input, and the notes that it wrote about it. */
export interface AppliedTransform extends PositionedResult {
  readonly transform: Transform
}
