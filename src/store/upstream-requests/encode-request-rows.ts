/**
 * The requests of a turn as rows: each told from the one before it, sealed, in pieces that any database
 * takes. A text is whole at least once in so many requests; what of it stands in the items beside it is
 * told from those. Media stand apart from the texts that show them, and only those of which the one
 * before knows nothing yet are to be kept with the turn.
 */
import { diffText } from '../../core/text/text-diff.ts'
import { listMediaReferences, type ExtractedMedia } from '../media/extract-item-media.ts'
import type { SentRequest } from './upstream-request-store-interface.ts'
import type { RequestRow } from '../database/table-row-types.ts'
import { extractTextMedia } from '../media/extract-text-media.ts'
import { deduplicateAgainstItems, encodeCopies } from './deduplicate-against-items.ts'
import type { RowEncryption } from '../encryption/read-encrypted-rows.ts'
import { MIN_DEDUPLICATED_CHARS } from './item-text-cache.ts'

/** A request in its place among those of its turn. Its body is without its media. */
export interface DeltaChainRequest {
  readonly sent: SentRequest
  readonly round: number
  readonly rounds: number
  /** How many requests there are up to one that is there as a whole. */
  readonly hops: number
}

/** What the first request of a turn is told from. */
interface Base extends DeltaChainRequest {
  readonly turnId: string
}

interface From {
  readonly before: Base | null
  /** The texts of the turn's own items, by position, as far as they are at hand. */
  readonly beside: readonly string[]
}

interface RequestRows {
  readonly rows: readonly RequestRow[]
  readonly media: readonly ExtractedMedia[]
  readonly last: DeltaChainRequest
}

export function encodeRequestRows(
  requests: readonly SentRequest[],
  { before, beside }: From,
  place: Place,
  { sealer }: Pick<RowEncryption, 'sealer'>,
): RequestRows {
  const rows: RequestRow[] = []
  const media: ExtractedMedia[] = []
  const known = new Set(before === null ? [] : listMediaReferences(before.sent.body))
  const pieces = { about: 0, body: 0, copies: 0, items: 0 }
  let base = before
  for (const [round, request] of requests.entries()) {
    const bare = extractTextMedia(place.tenant, request.body)
    media.push(...bare.media.filter(({ id }) => !known.has(id) && known.add(id)))
    const from = base === null || base.hops + 1 > MAX_DELTA_HOPS ? null : base
    const placed = {
      sent: { ...request, body: bare.text },
      round,
      rounds: requests.length,
      hops: from === null ? 0 : from.hops + 1,
    }
    for (const row of rowsOf(placed, { before: from, beside }, place)) {
      const { tenant, turnId } = place
      const { part } = row
      const position = pieces[part]
      pieces[part] += 1
      const body = sealer.seal(row.body, { tenant, turnId, part, position })
      rows.push({ ...row, piece: position, body })
    }
    base = { ...placed, turnId: place.turnId }
  }
  if (base === null) throw new Error('There is no request to keep.')
  return { rows, media, last: base }
}

interface Place {
  readonly tenant: string
  readonly turnId: string
}

export const MAX_DELTA_HOPS = 32

export const STORED_REQUEST_PARTS = [
  'about',
  'body',
  'items',
] as const satisfies readonly (keyof SentRequest)[]

/** What fits into a row of any database, even if each character takes three bytes and is sealed. */
const PIECE_CHARS = 400_000

function rowsOf(
  { sent, hops, round }: DeltaChainRequest,
  { before: base, beside }: From,
  { tenant, turnId }: Place,
): readonly Omit<RequestRow, 'piece'>[] {
  return STORED_REQUEST_PARTS.flatMap((part) => {
    const { prefix, suffix, middle } = diffText(base?.sent[part] ?? '', sent[part])
    const row = (of: RequestRow['part'], body: string) => ({
      turn_id: turnId,
      tenant,
      round,
      part: of,
      base: base?.turnId ?? null,
      base_round: base?.round ?? 0,
      hops,
      prefix,
      suffix,
      body,
    })
    const isTold = part === 'body' && middle.length >= MIN_DEDUPLICATED_CHARS
    const { left, copies } = deduplicateAgainstItems(middle, isTold ? beside : [])
    const rows = piecesOf(left).map((body) => row(part, body))
    if (copies.length === 0) return rows
    return [...rows, ...piecesOf(encodeCopies(copies)).map((body) => row('copies', body))]
  })
}

/** At least one, and no character is cut in half. */
function piecesOf(text: string): readonly string[] {
  const pieces: string[] = []
  let at = 0
  do {
    const end = at + PIECE_CHARS
    const code = text.charCodeAt(end)
    const next = code >= 0xdc00 && code <= 0xdfff ? end - 1 : end
    pieces.push(text.slice(at, next))
    at = next
  } while (at < text.length)
  return pieces
}
