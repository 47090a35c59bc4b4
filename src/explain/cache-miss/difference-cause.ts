/** Who has made a request differ from the one before it, and with which decision. */
import type { FateNote } from '../item-dispositions.ts'

export interface Cause {
  readonly who: 'nobody' | 'client' | 'gateway' | 'route'
  /** The place of the item that it is about. */
  readonly place?: number | null
  /** The transform, or the wire. */
  readonly by?: string
  readonly why?: string
  readonly sentence: string
}

/** One sentence for a note. */
export type SentenceOf = (note: FateNote) => string

type About = Pick<Cause, 'place'>

export function decided(note: FateNote, sentenceOf: SentenceOf, about: About = {}): Cause {
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
export function undone(note: FateNote, sentenceOf: SentenceOf, about: About = {}): Cause {
  const cause = decided(note, sentenceOf, about)
  return { ...cause, sentence: `It was so before, and is not any more: ${cause.sentence}` }
}
