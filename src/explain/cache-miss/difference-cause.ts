/** Describes which decision made a request differ from the previous one, and who made it. */
import type { DispositionNote } from '../item-dispositions.ts'

export interface DifferenceCause {
  readonly who: 'nobody' | 'client' | 'gateway' | 'route'
  /** Index of the item that differs. */
  readonly place?: number | null
  /** Name of the transform or wire. */
  readonly by?: string
  readonly why?: string
  readonly sentence: string
}

/** Returns one sentence that describes a note. */
export type DescribeNote = (note: DispositionNote) => string

type About = Pick<DifferenceCause, 'place'>

export function causeFromNote(
  note: DispositionNote,
  sentenceOf: DescribeNote,
  about: About = {},
): DifferenceCause {
  const { by, why } = note
  return {
    who: 'gateway',
    ...about,
    ...(by === undefined ? {} : { by }),
    why,
    sentence: sentenceOf(note),
  }
}

/** Builds the cause for a note of the previous request that no longer applies. */
export function causeFromEndedNote(
  note: DispositionNote,
  sentenceOf: DescribeNote,
  about: About = {},
): DifferenceCause {
  const cause = causeFromNote(note, sentenceOf, about)
  return {
    ...cause,
    sentence: `This applied to the previous request but no longer does: ${cause.sentence}`,
  }
}
