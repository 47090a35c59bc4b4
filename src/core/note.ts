/**
 * The record of one change to a request. Code that drops or changes something returns a note;
 * `explain` shows all notes.
 */
export interface Note {
  /**
   * `weakened` is for request fields: the field is sent in a form that promises less than the
   * client requested, e.g. `tool_choice: "auto"` for a model that cannot be forced to call a tool.
   */
  readonly did: 'dropped' | 'weakened' | 'changed' | 'moved' | 'added'
  /** Index of the changed item in the list of all history and request items. */
  readonly at?: number
  /** Name of the changed request field, if the note is not about an item. */
  readonly field?: string
  /** The reason as a short code, e.g. `output-without-call`. */
  readonly why: string
  /** Name of the transform or wire that made the change, e.g. `prune-orphans`. */
  readonly by?: string
  /** A sentence for people, if the code in `why` is not enough. */
  readonly detail?: string
}
