/** Media as rows and back: pieces that fit into a row of any database, sealed like all that was said. */
import type { Engine, SqlQuery } from '../database/engine-interface.ts'
import { restoreMedia, listMediaReferences, type ExtractedMedia } from './extract-item-media.ts'
import type { MediaStatements, ShowingTurn } from './media-statements.ts'
import type { ItemBodyRow } from '../turns/decode-turn-rows.ts'
import type { StorageCipher } from '../encryption/cipher.ts'
import type { RowEncryption } from '../encryption/read-encrypted-rows.ts'

/** Sealed they are a third longer, and a row of D1 takes 2 MB. */
const PIECE_CHARS = 1_000_000

/** A medium with the pieces of its text, each in a query of its own. */
export function createPieceInserts(
  sql: Pick<MediaStatements, 'insertPiece'>,
  tenant: string,
  { id, text }: ExtractedMedia,
  { seal, newest }: StorageCipher,
): readonly SqlQuery[] {
  const queries: SqlQuery[] = []
  for (let position = 0; position * PIECE_CHARS < text.length; position++) {
    const piece = text.slice(position * PIECE_CHARS, (position + 1) * PIECE_CHARS)
    // Half a surrogate pair would not be what it was; only what is no base64 can have one.
    const body = seal(JSON.stringify(piece), { tenant, turnId: id, part: 'media', position })
    const headChars = newest.find((head) => body.startsWith(head))?.length ?? 1
    queries.push(sql.insertPiece({ media_id: id, position, tenant, body, headChars }))
  }
  return queries
}

/** Media that a turn shows, in front of the items that they belong to. */
export function createMediaInserts(
  sql: MediaStatements,
  shownBy: ShowingTurn,
  media: readonly ExtractedMedia[],
  sealer: StorageCipher,
): readonly SqlQuery[] {
  const { tenant } = shownBy
  return media.flatMap((medium) => [
    sql.insertShown({ ...medium, ...shownBy, chars: medium.text.length }),
    ...createPieceInserts(sql, tenant, medium, sealer),
    sql.insertUse({ id: medium.id, ...shownBy }),
  ])
}

export interface MediaPiece {
  readonly media_id: string
  readonly position: number
  readonly body: string
}

/** By their ids; one that cannot be read is left out. */
export function decodeMediaPieces(
  tenant: string,
  pieces: readonly MediaPiece[],
  { unseal }: StorageCipher,
): ReadonlyMap<string, string> {
  const texts = new Map<string, string | null>()
  for (const { media_id: id, position, body } of pieces.toSorted(inOrder)) {
    const piece = unseal(body, { tenant, turnId: id, part: 'media', position })
    const before = texts.get(id) ?? (position === 0 ? '' : null)
    const text = piece === null || before === null ? null : before + (JSON.parse(piece) as string)
    texts.set(id, text)
  }
  return new Map([...texts].filter((entry): entry is [string, string] => entry[1] !== null))
}

function inOrder(one: MediaPiece, other: MediaPiece): number {
  return one.position - other.position
}

type BodyRow = Pick<ItemBodyRow, 'turn_id' | 'side' | 'position' | 'body'>

/**
 * The same rows with their media, in one query for all of them: the very same, if they have none. What
 * was sealed is not any more, so that nothing is unsealed twice.
 */
export async function restoreRowMedia<Row extends BodyRow>(
  engine: Pick<Engine, 'read'>,
  sql: Pick<MediaStatements, 'pieces'>,
  tenant: string,
  rows: readonly Row[],
  { sealer, onUnreadable }: RowEncryption,
): Promise<readonly Row[]> {
  const wanted = new Set<string>()
  const texts = rows.map((row) => {
    // What was not found by an outer join has no text.
    if (typeof row.body !== 'string') return null
    const { turn_id: turnId, side: part, position } = row
    const text = sealer.unseal(row.body, { tenant, turnId, part, position })
    for (const id of text === null ? [] : listMediaReferences(text)) wanted.add(id)
    return text
  })
  // Those that were not sealed are the very same rows.
  const opened = rows.map((row, at) => withBody(row, texts[at] ?? null))
  if (wanted.size === 0) return opened
  const ids = JSON.stringify([...wanted])
  const [pieces = []] = await engine.read([sql.pieces({ tenant, ids })])
  const media = decodeMediaPieces(tenant, pieces as readonly MediaPiece[], sealer)
  if (media.size < wanted.size) onUnreadable(wanted.size - media.size)
  return opened.map((row, at) => {
    const text = texts[at] ?? null
    return text === null ? row : withBody(row, restoreMedia(text, media))
  })
}

function withBody<Row extends BodyRow>(row: Row, body: string | null): Row {
  return body === null || body === row.body ? row : { ...row, body }
}
