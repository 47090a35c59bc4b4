/**
 * Interface of a database engine: runs finished SQL statements. All differences between SQLite,
 * Postgres and D1 are in the implementations. A new database is a new file `…-engine.ts` here and a
 * line in `test/store/engines.ts`.
 */
export interface Engine {
  readonly language: 'sqlite' | 'postgres'
  /**
   * Runs the queries in order, in one round trip where the database can, and returns the rows of
   * each. A read sees every write whose promise has resolved.
   */
  readonly read: (queries: readonly SqlQuery[]) => Promise<readonly SqlRows[]>
  /**
   * Runs all of the queries or none, and returns the rows of each. When the promise resolves, the
   * effect survives the death of this process and, by default, a power cut. Waiting for the disk is
   * the slowest part of a write.
   */
  readonly write: (
    queries: readonly SqlQuery[],
    survives?: WriteDurability,
  ) => Promise<readonly SqlRows[]>
  readonly close: () => Promise<void>
}

/**
 * The event that a write survives. `whenever` survives what `kill` does, but may wait up to 20 ms
 * for another write to share a transaction with.
 */
export type WriteDurability = 'whenever' | 'kill' | 'power-cut'

export interface SqlQuery {
  /**
   * Name under which a database may cache the prepared statement; `null` for statements that run
   * once.
   */
  readonly name: string | null
  readonly sql: string
  readonly parameters: readonly SqlValue[]
}

/** The types that every database binds and returns in the same way. */
export type SqlValue = string | number | null

/** Plain objects keyed by column. The caller knows its query and casts them. */
export type SqlRows = readonly unknown[]
