/**
 * A transform rewrites the list of items that a model is about to be given.
 *
 * Laws, held for each and for the whole plan by `test/rebuild/laws.test.ts`: it is pure; running it
 * twice changes nothing more; what is unchanged is the same object, and a list without a change is
 * the same list; what is not passed on as it was has a note.
 */
import type { Item } from '../core/item.ts'
import type { Note } from '../core/note.ts'

export interface Transform {
  readonly name: string
  /** The transform changes nothing in a list that has none of these traits (`scan-items.ts`). Undefined: always run. */
  readonly needs?: number
  /** When something becomes of a list that did not when it was shorter; without a word, at any time. */
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
 * `none`: of a list that ends where an answer begins, it makes the beginning of all that it makes of any
 * longer one. `lasting`: what is not changed in a list was not changed in such a beginning of it either.
 * Told so, it need not be asked again what it made then (`reasoning/recompute-prefixes.ts`).
 */
export type PrefixStability = 'none' | 'lasting'

/** Where each item of a list has its place in the first list; `null` for one that was added. */
export type OriginalPositions = readonly (number | null)[]

/** `at` of a note is the place in the list that was given to this transform. */
export interface TransformResult {
  readonly items: readonly Item[]
  readonly notes: readonly Note[]
}

/** A list, its notes, and where each of its items was in the list that the pipeline started with. */
export interface PositionedResult extends TransformResult {
  readonly places: OriginalPositions
}

/** A transform that has run: its input, and the notes that it wrote about it. */
export interface AppliedTransform extends PositionedResult {
  readonly transform: Transform
}
