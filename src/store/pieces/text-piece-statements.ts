/** SQL for the pieces of long texts. Pieces are deleted with their turn, those of an event log with the log. */
import { sql } from 'kysely'
import {
  createStatementCompiler,
  type ParameterSlot,
  type SqlFragment,
} from '../database/compile-statement.ts'
import type { Engine } from '../database/engine-interface.ts'
import { isInJsonList } from '../database/json-list-parameter.ts'
import { TEXT_PIECE_COLUMNS, type TextPieceRow } from '../database/table-row-types.ts'

export interface TextPieceLookup {
  readonly tenant: string
  /** A JSON list of turn ids. */
  readonly turnIds: string
  /** A JSON list of names of texts. */
  readonly names: string
}

export type TextPieceStatements = ReturnType<typeof createTextPieceStatements>

export function getTextPieceStatements(language: Engine['language']): TextPieceStatements {
  return STATEMENTS[language]
}

export function createTextPieceStatements(language: Engine['language']) {
  const compile = createStatementCompiler(language)
  return {
    /** Inserts a piece, unless it exists. Its turn must exist. */
    insertPiece: compile<TextPieceRow>(
      'insert-text-piece',
      (slot) => sql`insert into text_pieces (${COLUMNS})
        values (${sql.join(TEXT_PIECE_COLUMNS.map((name) => slot(name)))}) on conflict do nothing`,
    ),
    /** Returns pieces in any order, perhaps also some of other texts with one of the names. */
    selectPieces: compile<TextPieceLookup>(
      'text-pieces',
      (slot) => sql`select turn_id, text_name, piece, body from text_pieces
        where ${isInJsonList(language, sql.ref('text_pieces.turn_id'), slot('turnIds'))}
        and ${isInJsonList(language, sql.ref('text_pieces.text_name'), slot('names'))}
        and tenant || '' = ${slot('tenant')}`,
    ),
  }
}

const COLUMNS = sql.join(TEXT_PIECE_COLUMNS.map((name) => sql.ref(name)))

/**
 * Builds a statement that inserts a piece, or replaces it, if `fromOwnedTurn`, the rest of a `select` statement,
 * returns a row.
 */
export function insertPieceFrom(
  slot: ParameterSlot<TextPieceRow>,
  fromOwnedTurn: SqlFragment,
): SqlFragment {
  return sql`insert into text_pieces (${COLUMNS})
    select ${sql.join(TEXT_PIECE_COLUMNS.map((name) => slot(name)))} ${fromOwnedTurn}
    on conflict (turn_id, text_name, piece) do update set body = excluded.body`
}

/** True for pieces of event logs. */
export const IS_PIECE_OF_EVENTS = sql`text_pieces.text_name like 'events-%'`

/** Deletes the pieces of the event logs of turns. `turnIds`: a subquery. */
export function deletePiecesOfEvents(turnIds: SqlFragment): SqlFragment {
  return sql`delete from text_pieces where text_pieces.turn_id in (${turnIds})
    and ${IS_PIECE_OF_EVENTS}`
}

const STATEMENTS = {
  sqlite: createTextPieceStatements('sqlite'),
  postgres: createTextPieceStatements('postgres'),
}
