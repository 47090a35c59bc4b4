/** Describes the decision that made a request differ from the previous one, and who made it. */
import type { DispositionNote } from '../item-dispositions.ts'

export interface DifferenceCause {
  readonly who: 'nobody' | 'client' | 'gateway' | 'route'
  /** Index of the item that differs. */
  readonly place?: number | null
  /** Name of the transform or wire that changed the request. */
  readonly by?: string
  readonly why?: string
  readonly sentence: string
}

/** Returns one sentence that describes a note. */
export type DescribeNote = (note: DispositionNote) => string

type OptionalNote = DispositionNote | null | undefined

/** Builds the cause for a note; null without a note. `place` is left out if it is undefined. */
export function causeFromNote(
  note: OptionalNote,
  sentenceOf: DescribeNote,
  place?: number | null,
): DifferenceCause | null {
  if (note === null || note === undefined) return null
  const { by, why } = note
  const item = place === undefined ? {} : { place }
  const maker = by === undefined ? {} : { by }
  return { who: 'gateway', ...item, ...maker, why, sentence: sentenceOf(note) }
}

/** Builds the cause for a note of the previous request that no longer applies. */
export function causeFromMissingNote(
  note: OptionalNote,
  sentenceOf: DescribeNote,
  place?: number | null,
): DifferenceCause | null {
  const cause = causeFromNote(note, sentenceOf, place)
  if (cause === null) return null
  const sentence = `This applied to the previous request but no longer does: ${cause.sentence}`
  return { ...cause, sentence }
}
