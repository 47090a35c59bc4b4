/**
 * The source of data that is written after a slow job, e.g. a fact from a summary. If the source
 * was deleted after the job began, the data is not stored.
 */
export interface DerivedDataOrigin {
  readonly begunAtMs: number
  /** The thread or conversation that the data is derived from, if it is known. */
  readonly thread: string | null
}
