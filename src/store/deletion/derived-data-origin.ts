/**
 * The source of data that a slow job derives from a conversation, e.g. a fact from a summary. If
 * the source is deleted after the job began, the data is not stored.
 */
export interface DerivedDataOrigin {
  readonly begunAtMs: number
  /** Id of the thread or conversation that the data is derived from; null if unknown. */
  readonly thread: string | null
}
