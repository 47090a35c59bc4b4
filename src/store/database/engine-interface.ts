/**
 * Interface of a database engine, which runs finished SQL statements. The implementations hide the
 * differences between SQLite, Postgres and D1. To support another database, add a file `…-engine.ts`
 * here and a line in `test/store/engines.ts`.
 */
export interface Engine {
  readonly language: 'sqlite' | 'postgres'
  /**
   * Runs the queries in order, in one round trip if the database supports that, and returns the rows
   * of each query. A read sees every write whose promise has resolved.
   */
  readonly read: (queries: readonly SqlQuery[]) => Promise<readonly SqlRows[]>
  /**
   * Runs all of the queries or none, and returns the rows of each query. When the promise resolves,
   * the changes survive the death of this process. By default they also survive a power cut; a lower
   * `survives` skips waiting for the disk, the slowest part of a write. While the database hangs, a write
   * fails at once unless it `waits`.
   */
  readonly write: (
    queries: readonly SqlQuery[],
    survives?: WriteDurability,
    whileHanging?: HangBehavior,
  ) => Promise<readonly SqlRows[]>
  /**
   * Schedules the removal of texts that deleted rows have left in the files of the database. Missing where the gateway
   * has no access to these files.
   */
  readonly eraseDeleted?: () => Promise<void>
  readonly close: () => Promise<void>
}

/**
 * The worst event that a write survives: `kill` is the death of this process. A `whenever` write
 * survives that too, but may be delayed by up to 20 ms, to share a transaction with another write.
 */
export type WriteDurability = 'whenever' | 'kill' | 'power-cut'

/** `waits` is for writes that cannot be repeated, e.g. of an answer that an upstream has completed. */
export type HangBehavior = 'fails-fast' | 'waits'

export interface SqlQuery {
  /**
   * Name under which a database may cache the prepared statement; `null` for statements that run
   * once.
   */
  readonly name: string | null
  readonly sql: string
  readonly parameters: readonly SqlValue[]
  /** True for a migration, which may take hours. Other queries fail after a time limit. */
  readonly mayTakeLong?: true
}

/** The types that every database binds and returns in the same way. */
export type SqlValue = string | number | null

/** Plain objects with a field for each column. The caller knows its query and casts the rows. */
export type SqlRows = readonly unknown[]
