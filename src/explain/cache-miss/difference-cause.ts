/** Who has made a request differ from the one before it, and with which decision. */
import type { DispositionNote } from '../item-dispositions.ts'

export interface DifferenceCause {
  readonly who: 'nobody' | 'client' | 'gateway' | 'route'
  /** The place of the item that it is about. */
  readonly place?: number | null
  /** The transform, or the wire. */
  readonly by?: string
  readonly why?: string
  readonly sentence: string
}

/** One sentence for a note. */
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

/** A decision of which nothing is left makes a difference, too. */
export function causeFromEndedNote(
  note: DispositionNote,
  sentenceOf: DescribeNote,
  about: About = {},
): DifferenceCause {
  const cause = causeFromNote(note, sentenceOf, about)
  return { ...cause, sentence: `It was so before, and is not any more: ${cause.sentence}` }
}
