/**
 * Encodes media as rows, and restores media from rows. A medium is encrypted and stored in pieces
 * that fit into a row of every database.
 */
import type { Engine, SqlQuery } from '../database/engine-interface.ts'
import { restoreMedia, listMediaReferences, type ExtractedMedia } from './extract-item-media.ts'
import type { MediaStatements, UsingTurn } from './media-statements.ts'
import type { ItemBodyRow } from '../turns/decode-turn-rows.ts'
import type { StorageCipher } from '../encryption/cipher.ts'
import type { RowEncryption } from '../encryption/decrypt-rows.ts'

/**
 * Maximum length of a piece. Encryption makes a piece a third longer, and a row of D1 is at most 2
 * MB long.
 */
const PIECE_CHARS = 1_000_000

/** Builds one query for each piece of a medium. */
export function buildPieceInserts(
  sql: Pick<MediaStatements, 'insertPiece'>,
  tenant: string,
  { id, text }: ExtractedMedia,
  { encrypt, currentPrefixes }: StorageCipher,
): readonly SqlQuery[] {
  const queries: SqlQuery[] = []
  for (let position = 0; position * PIECE_CHARS < text.length; position++) {
    const piece = text.slice(position * PIECE_CHARS, (position + 1) * PIECE_CHARS)
    // Encodes each piece as a JSON string, because a piece may begin or end between the halves of a
    // surrogate pair. (Base64 has no surrogate pairs, but other texts may.)
    const body = encrypt(JSON.stringify(piece), { tenant, rowId: id, part: 'media', position })
    const keyPrefixChars = currentPrefixes.find((head) => body.startsWith(head))?.length ?? 1
    queries.push(sql.insertPiece({ media_id: id, position, tenant, body, keyPrefixChars }))
  }
  return queries
}

/** Builds the queries that insert the media of a turn. They must run before those of its items. */
export function buildMediaInserts(
  sql: MediaStatements,
  turn: UsingTurn,
  media: readonly ExtractedMedia[],
  cipher: StorageCipher,
): readonly SqlQuery[] {
  const { tenant } = turn
  return media.flatMap((medium) => [
    sql.insertMediumOfTurn({ ...medium, ...turn, chars: medium.text.length }),
    ...buildPieceInserts(sql, tenant, medium, cipher),
    sql.insertUse({ id: medium.id, ...turn }),
  ])
}

export interface MediaPiece {
  readonly media_id: string
  readonly position: number
  readonly body: string
}

/**
 * Joins the pieces of each medium. Returns the texts by medium id, without media that have an
 * unreadable or missing piece.
 */
export function decodeMediaPieces(
  tenant: string,
  pieces: readonly MediaPiece[],
  { decrypt }: StorageCipher,
): ReadonlyMap<string, string> {
  const texts = new Map<string, string | null>()
  for (const { media_id: id, position, body } of pieces.toSorted(compareByPosition)) {
    const piece = decrypt(body, { tenant, rowId: id, part: 'media', position })
    const textSoFar = texts.get(id) ?? (position === 0 ? '' : null)
    const text =
      piece === null || textSoFar === null ? null : textSoFar + (JSON.parse(piece) as string)
    texts.set(id, text)
  }
  return new Map([...texts].filter((entry): entry is [string, string] => entry[1] !== null))
}

function compareByPosition(one: MediaPiece, other: MediaPiece): number {
  return one.position - other.position
}

type BodyRow = Pick<ItemBodyRow, 'turn_id' | 'side' | 'position' | 'body'>

/**
 * Decrypts the rows and restores their media, with one query for the media of all rows. A row that
 * has no media and is not encrypted is returned as the same object.
 */
export async function restoreRowMedia<Row extends BodyRow>(
  engine: Pick<Engine, 'read'>,
  sql: Pick<MediaStatements, 'selectPieces'>,
  tenant: string,
  rows: readonly Row[],
  { cipher, onUnreadable }: RowEncryption,
): Promise<readonly Row[]> {
  const mediaIds = new Set<string>()
  const texts = rows.map((row) => {
    // Leaves out a row without a body, which an outer join returns for a turn without items.
    if (typeof row.body !== 'string') return null
    const { turn_id: turnId, side: part, position } = row
    const text = cipher.decrypt(row.body, { tenant, rowId: turnId, part, position })
    for (const id of text === null ? [] : listMediaReferences(text)) mediaIds.add(id)
    return text
  })
  const decryptedRows = rows.map((row, index) => withBody(row, texts[index] ?? null))
  if (mediaIds.size === 0) return decryptedRows
  const ids = JSON.stringify([...mediaIds])
  const [pieces = []] = await engine.read([sql.selectPieces({ tenant, ids })])
  const media = decodeMediaPieces(tenant, pieces as readonly MediaPiece[], cipher)
  if (media.size < mediaIds.size) onUnreadable(mediaIds.size - media.size)
  return decryptedRows.map((row, index) => {
    const text = texts[index] ?? null
    return text === null ? row : withBody(row, restoreMedia(text, media))
  })
}

function withBody<Row extends BodyRow>(row: Row, body: string | null): Row {
  return body === null || body === row.body ? row : { ...row, body }
}
