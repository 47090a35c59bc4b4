/** A record of one change to a request. Code that drops or changes something returns a note, and `explain` shows all notes. */
export interface Note {
  readonly did: 'dropped' | 'changed' | 'moved' | 'added'
  /** Index in the combined list of history and request items. */
  readonly at?: number
  /** Name of a request field, if the note concerns a field instead of an item. */
  readonly field?: string
  /** A short code in kebab-case, e.g. `output-without-call`. */
  readonly why: string
  /** Name of the transform or wire that made the change. */
  readonly by?: string
  /** One sentence for people, if the code alone is not enough. */
  readonly detail?: string
}
