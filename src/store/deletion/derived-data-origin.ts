/**
 * What something comes of that is written when it is done, as a fact from a summary or a note behind an
 * answer. What has been forgotten since it was begun takes it along.
 */
export interface DerivedDataOrigin {
  readonly begunAtMs: number
  /** The thread or the conversation that it is made from, if that is known. */
  readonly thread: string | null
}
