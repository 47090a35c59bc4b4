/** Builds the queries that replace stored items of a run, with the condition that the replica owns the run. */
import type { SqlQuery } from '../database/engine-interface.ts'
import type { StorageCipher } from '../encryption/cipher.ts'
import { buildItemAmendments } from '../turns/insert-item-queries.ts'
import type { TurnEnding } from '../turns/turn-store-interface.ts'
import type { OwnedRunKey, RunAndLogStatements } from './run-and-log-statements.ts'

export function buildRunItemAmendments(
  { amendItem, insertPiece }: Pick<RunAndLogStatements, 'amendItem' | 'insertPiece'>,
  run: OwnedRunKey,
  ending: TurnEnding,
  cipher: StorageCipher,
): readonly SqlQuery[] {
  return buildItemAmendments(
    {
      amendItem: (row) => amendItem({ ...row, ...run }),
      amendPiece: (piece) => insertPiece({ ...piece, ...run }),
    },
    ending,
    cipher,
  )
}
