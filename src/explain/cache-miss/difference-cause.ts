/**
 * Defines the cause of a difference between a request and the previous one: who caused it, and a sentence
 * for the user.
 */
import type { DescribeNote } from '../describe-notes.ts'
import type { DispositionNote } from '../item-dispositions.ts'

export interface DifferenceCause {
  readonly who: 'nobody' | 'client' | 'gateway' | 'route'
  /**
   * Index of the differing item in the list of history and request items. Null if the gateway inserted the item,
   * or if it is unknown which item differs. Undefined if the difference is not in an item.
   */
  readonly place?: number | null
  /** Name of the transform or wire that changed the request. */
  readonly by?: string
  readonly why?: string
  readonly sentence: string
}

type OptionalNote = DispositionNote | null | undefined

/** Returns the cause that a note records; null without a note. `place`: index of the item. */
export function createCause(
  note: OptionalNote,
  describeNote: DescribeNote,
  place?: number | null,
): DifferenceCause | null {
  if (note === null || note === undefined) return null
  const { by, why } = note
  const item = place === undefined ? {} : { place }
  const maker = by === undefined ? {} : { by }
  return { who: 'gateway', ...item, ...maker, why, sentence: describeNote(note) }
}

/**
 * Returns the cause for a note that only the previous request has: the recorded decision no longer applies.
 */
export function createEndedCause(
  note: OptionalNote,
  describeNote: DescribeNote,
  place?: number | null,
): DifferenceCause | null {
  const cause = createCause(note, describeNote, place)
  if (cause === null) return null
  const sentence = `This applied to the previous request but no longer does: ${cause.sentence}`
  return { ...cause, sentence }
}
