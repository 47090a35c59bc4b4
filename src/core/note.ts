/**
 * A note says what happened to something that is not passed on as it came. Losses are values:
 * whoever drops or changes something returns a note, and `explain` shows them all.
 */
export interface Note {
  readonly did: 'dropped' | 'changed' | 'moved' | 'added'
  /** Place in the list of items that the client's request and its history make up. */
  readonly at?: number
  /** Name of a request field, when the note is about one and not about an item. */
  readonly field?: string
  /** A short code in kebab-case, to count and to test by. */
  readonly why: string
  /** Which transform or which wire wrote it. */
  readonly by?: string
  /** One sentence for a person, when the code does not say enough. */
  readonly detail?: string
}
