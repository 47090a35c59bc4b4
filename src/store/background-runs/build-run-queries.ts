/** Builds the queries that add events and items to a run, and that replace items of a run. */
import { encodeColumnText } from '../database/encode-column-text.ts'
import type { SqlQuery } from '../database/engine-interface.ts'
import type { StreamEventRow, TextPieceRow } from '../database/table-row-types.ts'
import type { StorageCipher } from '../encryption/cipher.ts'
import { buildMediaInserts } from '../media/encode-and-restore-media-rows.ts'
import type { MediaStatements } from '../media/media-statements.ts'
import { encodeOwnedRowKey } from '../owner.ts'
import { cutLongText } from '../pieces/cut-long-text.ts'
import type { TextPieceStatements } from '../pieces/text-piece-statements.ts'
import { encodeOutputItems } from '../turns/encode-turn-rows.ts'
import { buildItemAmendments } from '../turns/insert-item-queries.ts'
import type { PlacedItem, TurnEnding, TurnKey } from '../turns/turn-store-interface.ts'
import type { OwnedRunKey, RunAndLogStatements } from './run-and-log-statements.ts'
import type { EventGroup, OwnedRun, RunWithReplica } from './run-store-interface.ts'

export function encodeOwnedRun({ turnId, tenant, replicaId }: RunWithReplica): OwnedRunKey {
  return { id: encodeColumnText(turnId), tenant: encodeColumnText(tenant), replicaId }
}

function getTurnKey({ turnId: id, tenant, user }: OwnedRun): TurnKey {
  return { id, tenant, user }
}

interface EncodedEvents {
  readonly row: StreamEventRow
  readonly pieces: readonly TextPieceRow[]
}

function encodeEvents(
  turn: TurnKey,
  { first, last, text }: EventGroup,
  cipher: StorageCipher,
): EncodedEvents {
  const { id: rowId, tenant, user } = encodeOwnedRowKey(turn, turn.id)
  const location = { tenant, user, rowId, part: 'events', position: first } as const
  const { column, pieces } = cutLongText(encodeColumnText(text), location, cipher)
  const row = { turn_id: rowId, tenant, first_number: first, last_number: last, text: column }
  return { row, pieces }
}

export function buildOpeningInserts(
  sql: Pick<RunAndLogStatements, 'insertOpening'>,
  { insertPiece }: Pick<TextPieceStatements, 'insertPiece'>,
  turn: TurnKey,
  opening: EventGroup,
  cipher: StorageCipher,
): readonly SqlQuery[] {
  const { row, pieces } = encodeEvents(turn, opening, cipher)
  return [...pieces.map(insertPiece), sql.insertOpening(row)]
}

/** Builds queries of which the last returns a row only if the replica owns the run. */
export function buildEventInserts(
  sql: RunAndLogStatements,
  run: OwnedRun,
  events: EventGroup,
  cipher: StorageCipher,
): readonly SqlQuery[] {
  const { row, pieces } = encodeEvents(getTurnKey(run), events, cipher)
  const key = encodeOwnedRun(run)
  return [
    ...pieces.map((piece) => sql.insertPiece({ ...piece, ...key })),
    sql.insertEvents({ ...row, ...key }),
  ]
}

export function buildItemInserts(
  sql: Pick<RunAndLogStatements, 'insertItem' | 'insertPiece'> & {
    readonly media: MediaStatements
  },
  run: OwnedRun,
  items: readonly PlacedItem[],
  cipher: StorageCipher,
): readonly SqlQuery[] {
  const key = encodeOwnedRun(run)
  return encodeOutputItems(getTurnKey(run), items, cipher).flatMap(({ row, media, pieces }) => [
    ...buildMediaInserts(sql.media, { turnId: row.turn_id, tenant: row.tenant }, media, cipher),
    ...pieces.map((piece) => sql.insertPiece({ ...piece, ...key })),
    sql.insertItem({ ...row, ...key }),
  ])
}

/** Builds the queries that replace stored items of a run, with the condition that the replica owns the run. */
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

/** Builds queries of which the last returns a row only if the replica still owns the run. */
export function buildOwnershipCheck(
  sql: RunAndLogStatements,
  run: OwnedRun,
  events: EventGroup | null,
  cipher: StorageCipher,
): readonly SqlQuery[] {
  return events === null
    ? [sql.selectOwnedRun(encodeOwnedRun(run))]
    : buildEventInserts(sql, run, events, cipher)
}
