/** Interface by which the code for each kind of erasure deletes rows in bounded transactions. */
import type { Engine, SqlQuery, SqlRows } from '../database/engine-interface.ts'
import type { SliceSize } from './slice-size.ts'

export interface SliceWriter {
  readonly engine: Engine
  readonly size: SliceSize
  /** Deletes turns completely. `lastQueries` run in the transaction that deletes the rows of the turns. */
  readonly deleteTurns: (
    tenant: string,
    turns: readonly SizedTurnId[],
    lastQueries?: readonly SqlQuery[],
  ) => Promise<void>
  readonly write: (tenant: string, queries: readonly SqlQuery[]) => Promise<readonly SqlRows[]>
}

export interface SizedTurnId {
  readonly id: string
  readonly bytes: number
}
