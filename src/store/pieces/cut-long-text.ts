/**
 * Cuts a long text into pieces, which are encrypted and stored as rows of their own. The column of the text
 * then contains the number of pieces and of characters as a JSON list, e.g. `[3,1200000]`. Other texts in these
 * columns are JSON objects and event streams, so they never look like that.
 */
import type { RowLocation, StorageCipher, TextName } from '../encryption/cipher.ts'
import type { TextPieceRow } from '../database/table-row-types.ts'
import { splitText } from './split-text.ts'

/** A text whose column is encrypted, and the pieces that its column refers to; usually none. */
export interface CutText {
  readonly column: string
  readonly pieces: readonly TextPieceRow[]
}

/** Longer texts are cut. Encrypted, they take a third more, and a row of D1 is at most 2,000,000 bytes long. */
const MAX_COLUMN_BYTES = 1_200_000

/** A text in a row of a turn. */
export interface TurnTextLocation extends RowLocation {
  readonly part: TurnTextPart
}

export type TurnTextPart = 'in' | 'out' | 'request' | 'events'

export function cutLongText(
  text: string,
  location: TurnTextLocation,
  { encrypt }: StorageCipher,
): CutText {
  if (!isTooLong(text)) return { column: encrypt(text, location), pieces: [] }
  const bodies = splitText(text)
  const pieces = bodies.map((body, piece) => ({
    turn_id: location.rowId,
    tenant: location.tenant,
    text_name: nameText(location),
    piece,
    body: encrypt(body, locatePiece(location, piece)),
  }))
  return { column: encrypt(JSON.stringify([pieces.length, text.length]), location), pieces }
}

function isTooLong(text: string): boolean {
  return text.length > MAX_COLUMN_BYTES / 3 && Buffer.byteLength(text) > MAX_COLUMN_BYTES
}

export interface CutTextSize {
  readonly pieces: number
  readonly chars: number
}

/** Reads the decrypted column of a text that was cut; null for a complete text. */
export function readCutTextSize(columnText: string): CutTextSize | null {
  if (!columnText.startsWith('[')) return null
  const [pieces = 0, chars = 0] = JSON.parse(columnText) as readonly number[]
  return { pieces, chars }
}

/** Names a text within its turn, e.g. `out-3`. */
export function nameText({
  part,
  position,
}: Pick<TurnTextLocation, 'part' | 'position'>): TextName {
  return `${part}-${position}`
}

export function locatePiece(location: TurnTextLocation, piece: number): RowLocation {
  return { ...location, part: nameText(location), position: piece }
}
