/**
 * Encodes media as rows, and restores media from rows. A medium is encrypted and stored in pieces
 * that fit into a row of every database.
 */
import type { ClaimMemory } from '../../core/ports/claim-memory.ts'
import type { Engine, SqlQuery } from '../database/engine-interface.ts'
import {
  choosePieceChars,
  restoreMedia,
  listMediaReferences,
  type ExtractedMedia,
} from './extract-item-media.ts'
import type { MediaRow, MediaStatements, UsingTurn } from './media-statements.ts'
import { decryptLongTexts, type DecryptedRows } from '../pieces/decrypt-long-texts.ts'
import { splitText } from '../pieces/split-text.ts'
import type { ItemBodyRow } from '../turns/decode-turn-rows.ts'
import type { RowLocation, StorageCipher } from '../encryption/cipher.ts'
import type { ReadFailure, RowEncryption, RowOwner } from '../encryption/decrypt-rows.ts'

/** Builds one query for each piece of a medium. */
export function buildPieceInserts(
  sql: Pick<MediaStatements, 'insertPiece'>,
  tenant: string,
  { id, text }: ExtractedMedia,
  { encrypt, currentPrefixes }: StorageCipher,
): readonly SqlQuery[] {
  if (text === '') return []
  return splitText(text, choosePieceChars(text)).map((piece, position) => {
    // Encodes each piece as a JSON string, because the text of a medium may be no well-formed Unicode.
    const body = encrypt(JSON.stringify(piece), locatePiece(tenant, id, position))
    const keyPrefixChars = currentPrefixes.find((head) => body.startsWith(head))?.length ?? 1
    return sql.insertPiece({ media_id: id, position, tenant, body, keyPrefixChars })
  })
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

/** Users of a tenant share a medium, so it belongs to none of them. */
function locatePiece(tenant: string, mediumId: string, position: number): RowLocation {
  return { tenant, user: '', rowId: mediumId, part: 'media', position }
}

interface DecodedMedia {
  /** The texts by medium id. */
  readonly texts: ReadonlyMap<string, string>
  readonly failures: readonly ReadFailure[]
}

/**
 * Joins the pieces of each medium. Returns the texts without media that have an unreadable or missing
 * piece, and the failures.
 */
export function decodeMediaPieces(
  tenant: string,
  pieces: readonly MediaPiece[],
  { decrypt, explainFailure }: StorageCipher,
): DecodedMedia {
  const texts = new Map<string, string | null>()
  const failures: ReadFailure[] = []
  for (const { media_id: id, position, body } of pieces.toSorted(compareByPosition)) {
    const piece = decrypt(body, locatePiece(tenant, id, position))
    if (piece === null) failures.push(explainFailure(body))
    const textSoFar = texts.get(id) ?? (position === 0 ? '' : null)
    const text =
      piece === null || textSoFar === null ? null : textSoFar + (JSON.parse(piece) as string)
    texts.set(id, text)
  }
  const readable = [...texts].filter((entry): entry is [string, string] => entry[1] !== null)
  return { texts: new Map(readable), failures }
}

function compareByPosition(one: MediaPiece, other: MediaPiece): number {
  return one.position - other.position
}

type BodyRow = Pick<ItemBodyRow, 'turn_id' | 'side' | 'position'> & { readonly body: string | null }

export interface MemoryOptions {
  /** Called for texts that are longer than their rows, because these are compressed. */
  readonly claimMemory?: ClaimMemory
  /** True if `claimMemory` is also called for media, with one more query, and for pieces, before they are read. */
  readonly claimsMedia?: boolean
}

/**
 * Decrypts the bodies of rows and restores their media, with one query for the media of all rows, and one for the
 * pieces of long bodies. Returns the decrypted rows in the same order, and the failures.
 */
export async function decryptRowsWithMedia<Row extends BodyRow>(
  engine: Pick<Engine, 'read' | 'language'>,
  sql: Pick<MediaStatements, 'selectPieces' | 'selectSizes'>,
  owner: RowOwner,
  rows: readonly Row[],
  { cipher }: RowEncryption,
  { claimMemory = () => undefined, claimsMedia = false }: MemoryOptions = {},
): Promise<DecryptedRows<Row>> {
  const decrypted = await decryptLongTexts(engine, owner, rows, cipher, {
    claimMemory,
    claimsPieces: claimsMedia,
  })
  const mediaIds = new Set<string>()
  for (const { text } of decrypted.rows)
    for (const id of text === null ? [] : listMediaReferences(text)) mediaIds.add(id)
  if (mediaIds.size === 0) return decrypted
  const { tenant } = owner
  const ids = JSON.stringify([...mediaIds])
  if (claimsMedia) {
    const [sizes = []] = await engine.read([sql.selectSizes({ tenant, ids })])
    claimMemory({ bytes: sumChars(sizes as readonly Pick<MediaRow, 'chars'>[]) })
  }
  const [pieces = []] = await engine.read([sql.selectPieces({ tenant, ids })])
  const media = decodeMediaPieces(tenant, pieces as readonly MediaPiece[], cipher)
  return {
    rows: decrypted.rows.map((row) =>
      row.text === null ? row : { ...row, text: restoreMedia(row.text, media.texts) },
    ),
    failures: [...decrypted.failures, ...media.failures, ...listMissing(mediaIds, media)],
  }
}

function sumChars(media: readonly Pick<MediaRow, 'chars'>[]): number {
  return media.reduce((sum, { chars }) => sum + chars, 0)
}

/** Returns a failure for each medium that is missing, although all of its pieces can be decrypted. */
function listMissing(
  ids: ReadonlySet<string>,
  { texts, failures }: DecodedMedia,
): readonly ReadFailure[] {
  const count = failures.length > 0 ? 0 : ids.size - texts.size
  return Array.from({ length: count }, () => ({ why: 'unusable' }))
}
