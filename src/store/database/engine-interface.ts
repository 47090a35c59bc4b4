/**
 * What the store needs of a database, and all that differs between the three: run finished SQL.
 * A new database is a new file `engine-….ts` and a line in the contract's test.
 */
export interface Engine {
  readonly language: 'sqlite' | 'postgres'
  /**
   * Runs the queries in order, in one round trip where the database can, and yields the rows of
   * each. It sees every write whose promise has resolved.
   */
  readonly read: (queries: readonly SqlQuery[]) => Promise<readonly SqlRows[]>
  /**
   * Runs all of the queries or none, and yields what each of them returns. When the promise
   * resolves their effect survives the death of this process, and, unless less is asked, a power
   * cut as well: waiting for the disk is what a write costs most.
   */
  readonly write: (
    queries: readonly SqlQuery[],
    survives?: WriteDurability,
  ) => Promise<readonly SqlRows[]>
  readonly close: () => Promise<void>
}

/** `whenever` is as `kill` for what nobody waits for: it may go along with what is written next. */
export type WriteDurability = 'whenever' | 'kill' | 'power-cut'

export interface SqlQuery {
  /** Under which a database may keep the statement prepared; `null` for what runs but once. */
  readonly name: string | null
  readonly sql: string
  readonly parameters: readonly SqlValue[]
}

/** What every database binds and returns alike. */
export type SqlValue = string | number | null

/** Plain objects by column, for the asker to type: it knows its query. */
export type SqlRows = readonly unknown[]
