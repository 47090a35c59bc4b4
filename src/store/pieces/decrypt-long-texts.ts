/**
 * Decrypts texts of turns: items, request fields and events. The pieces of texts that were cut are read with one query
 * for all of them; most turns have none.
 */
import type { ClaimMemory } from '../../core/ports/claim-memory.ts'
import type { Engine } from '../database/engine-interface.ts'
import type { TextPieceRow } from '../database/table-row-types.ts'
import type { StorageCipher } from '../encryption/cipher.ts'
import type { ReadFailure, RowOwner } from '../encryption/decrypt-rows.ts'
import {
  locatePiece,
  nameText,
  readCutTextSize,
  type CutTextSize,
  type TurnTextLocation,
  type TurnTextPart,
} from './cut-long-text.ts'
import { getTextPieceStatements } from './text-piece-statements.ts'

export interface TextRow {
  readonly turn_id: string
  readonly side: TurnTextPart
  readonly position: number
  /** Null in a row that an outer join returns for a turn without texts. */
  readonly body: string | null
}

/** A row whose body was decrypted to `text`; `null` if that failed. */
export type DecryptedRow<Row> = Omit<Row, 'body'> & { readonly text: string | null }

export interface DecryptedRows<Row> {
  /** In the order of the encrypted rows. */
  readonly rows: readonly DecryptedRow<Row>[]
  readonly failures: readonly ReadFailure[]
}

interface DecryptionOptions {
  /** Called for texts that are longer than their rows, which are compressed. */
  readonly claimMemory?: ClaimMemory
  /** True if `claimMemory` is also called for texts that were cut, before their pieces are read. */
  readonly claimsPieces?: boolean
}

export async function decryptLongTexts<Row extends TextRow>(
  engine: Pick<Engine, 'read' | 'language'>,
  owner: RowOwner,
  rows: readonly Row[],
  cipher: StorageCipher,
  { claimMemory = () => undefined, claimsPieces = false }: DecryptionOptions = {},
): Promise<DecryptedRows<Row>> {
  const failures: ReadFailure[] = []
  const cut: CutRow[] = []
  const countGrowth = claimGrowth(claimMemory)
  const decrypted = rows.map((row, index): DecryptedRow<Row> => {
    const { body, turn_id: rowId, side: part, position } = row
    if (typeof body !== 'string') return { ...row, text: null }
    const location = { ...owner, rowId, part, position }
    const text = cipher.decrypt(body, location)
    if (text === null) failures.push(cipher.explainFailure(body))
    else countGrowth(text.length - body.length)
    const size = text === null ? null : readCutTextSize(text)
    if (size !== null) cut.push({ index, location, size })
    return { ...row, text }
  })
  if (cut.length === 0) return { rows: decrypted, failures }
  if (claimsPieces) claimMemory({ bytes: cut.reduce((sum, { size }) => sum + size.chars, 0) })
  const piecesByText = await readPieces(engine, owner.tenant, cut)
  for (const { index, location, size } of cut) {
    const pieces = piecesByText.get(formatKey(location.rowId, nameText(location))) ?? []
    const text = joinPieces(
      pieces,
      { location, size },
      { cipher, failures, countGrowth: claimsPieces ? () => undefined : countGrowth },
    )
    decrypted[index] = { ...(decrypted[index] as DecryptedRow<Row>), text }
  }
  return { rows: decrypted, failures }
}

interface CutRow {
  readonly index: number
  readonly location: TurnTextLocation
  readonly size: CutTextSize
}

type Piece = Omit<TextPieceRow, 'tenant'>

async function readPieces(
  { read, language }: Pick<Engine, 'read' | 'language'>,
  tenant: string,
  cut: readonly CutRow[],
): Promise<ReadonlyMap<string, readonly Piece[]>> {
  const turnIds = JSON.stringify([...new Set(cut.map(({ location }) => location.rowId))])
  const names = JSON.stringify([...new Set(cut.map(({ location }) => nameText(location)))])
  const { selectPieces } = getTextPieceStatements(language)
  const [pieces = []] = await read([selectPieces({ tenant, turnIds, names })])
  return Map.groupBy(pieces as readonly Piece[], (row) => formatKey(row.turn_id, row.text_name))
}

function formatKey(turnId: string, textName: string): string {
  return `${turnId} ${textName}`
}

interface PieceReading {
  readonly cipher: StorageCipher
  readonly failures: ReadFailure[]
  readonly countGrowth: (chars: number) => void
}

/** Joins the pieces of a text. Returns null, and adds the failure, if one cannot be decrypted or is missing. */
function joinPieces(
  pieces: readonly Piece[],
  { location, size }: Pick<CutRow, 'location' | 'size'>,
  { cipher, failures, countGrowth }: PieceReading,
): string | null {
  const texts: string[] = []
  // A text that replaced a longer one may have fewer pieces than the table holds.
  const used = pieces.filter(({ piece }) => piece < size.pieces)
  for (const { piece, body } of used.toSorted((one, other) => one.piece - other.piece)) {
    const text = cipher.decrypt(body, locatePiece(location, piece))
    if (text === null) {
      failures.push(cipher.explainFailure(body))
      continue
    }
    countGrowth(text.length - body.length)
    texts.push(text)
  }
  if (texts.length === size.pieces) return texts.join('')
  if (used.length < size.pieces) failures.push({ why: 'unusable' })
  return null
}

/**
 * Returns a function that claims memory for the difference in length between decrypted texts and their rows, which
 * may be compressed.
 */
function claimGrowth(claimMemory: ClaimMemory): (chars: number) => void {
  let unclaimed = 0
  return (chars) => {
    unclaimed += Math.max(0, chars)
    if (unclaimed < CLAIM_STEP_CHARS) return
    claimMemory({ bytes: unclaimed })
    unclaimed = 0
  }
}

const CLAIM_STEP_CHARS = 100_000
