/**
 * Encodes the requests of a turn as rows. Each request is stored as the difference to the previous
 * one, but at least every 33rd completely. Rows are encrypted, and long texts are split into pieces
 * that fit into a row of every database. Long strings of the body that are also in the turn's items
 * are replaced by positions in those items, and media by references. Media that the previous
 * request contains are not stored again.
 */
import { diffText } from '../../core/text/text-diff.ts'
import { listMediaReferences, type ExtractedMedia } from '../media/extract-item-media.ts'
import type { SentRequest } from './upstream-request-store-interface.ts'
import type { RequestRow } from '../database/table-row-types.ts'
import { extractTextMedia } from '../media/extract-text-media.ts'
import { deduplicateAgainstItems, encodeCopies } from './deduplicate-against-items.ts'
import type { RowEncryption } from '../encryption/decrypt-rows.ts'
import { MIN_DEDUPLICATED_CHARS } from './item-text-cache.ts'
import { splitText } from '../pieces/split-text.ts'

/** A request without its media, and its position in the chain of differences. */
export interface DeltaChainRequest {
  readonly sent: SentRequest
  readonly round: number
  readonly roundCount: number
  /**
   * Number of differences that must be applied to a complete request to restore this one; 0 if this
   * one is stored completely.
   */
  readonly hops: number
}

/**
 * The stored request of an earlier turn. The first request of this turn is stored as the difference
 * to it.
 */
interface BaseRequest extends DeltaChainRequest {
  readonly turnId: string
}

interface EncodingSources {
  readonly base: BaseRequest | null
  /** The JSON of the turn's input items, by position; empty if it is not cached. */
  readonly itemTexts: readonly string[]
}

interface RequestRows {
  readonly rows: readonly RequestRow[]
  readonly media: readonly ExtractedMedia[]
  readonly last: DeltaChainRequest
}

export function encodeRequestRows(
  requests: readonly SentRequest[],
  { base: firstBase, itemTexts }: EncodingSources,
  turn: TurnLocation,
  { cipher }: Pick<RowEncryption, 'cipher'>,
): RequestRows {
  const rows: RequestRow[] = []
  const media: ExtractedMedia[] = []
  const knownMediaIds = new Set(firstBase === null ? [] : listMediaReferences(firstBase.sent.body))
  const pieceCounts = { about: 0, body: 0, copies: 0, items: 0 }
  let base = firstBase
  for (const [round, request] of requests.entries()) {
    const extracted = extractTextMedia(turn.tenant, request.body)
    media.push(
      ...extracted.media.filter(({ id }) => !knownMediaIds.has(id) && knownMediaIds.add(id)),
    )
    const from = base === null || base.hops + 1 > MAX_DELTA_HOPS ? null : base
    const chained = {
      sent: { ...request, body: extracted.text },
      round,
      roundCount: requests.length,
      hops: from === null ? 0 : from.hops + 1,
    }
    for (const row of encodeRound(chained, { base: from, itemTexts }, turn)) {
      const { tenant, user, turnId } = turn
      const { part } = row
      const position = pieceCounts[part]
      pieceCounts[part] += 1
      const body = cipher.encrypt(row.body, { tenant, user, rowId: turnId, part, position })
      rows.push({ ...row, piece: position, body })
    }
    base = { ...chained, turnId: turn.turnId }
  }
  if (base === null) throw new Error('There is no request to store.')
  return { rows, media, last: base }
}

interface TurnLocation {
  readonly tenant: string
  readonly user: string
  readonly turnId: string
}

export const MAX_DELTA_HOPS = 32

/**
 * The fields of a `SentRequest`, each stored as a part. The part `copies` is added if strings of the
 * body are left out.
 */
const SENT_REQUEST_PARTS = [
  'about',
  'body',
  'items',
] as const satisfies readonly (keyof SentRequest)[]

function encodeRound(
  { sent, hops, round }: DeltaChainRequest,
  { base, itemTexts }: EncodingSources,
  { tenant, turnId }: TurnLocation,
): readonly Omit<RequestRow, 'piece'>[] {
  return SENT_REQUEST_PARTS.flatMap((part) => {
    const { prefix, suffix, middle } = diffText(base?.sent[part] ?? '', sent[part])
    const row = (storedPart: RequestRow['part'], body: string) => ({
      turn_id: turnId,
      tenant,
      round,
      part: storedPart,
      base: base?.turnId ?? null,
      base_round: base?.round ?? 0,
      hops,
      prefix,
      suffix,
      body,
    })
    const isDeduplicated = part === 'body' && middle.length >= MIN_DEDUPLICATED_CHARS
    const { remaining, copies } = deduplicateAgainstItems(middle, isDeduplicated ? itemTexts : [])
    const rows = splitText(remaining).map((body) => row(part, body))
    if (copies.length === 0) return rows
    return [...rows, ...splitText(encodeCopies(copies)).map((body) => row('copies', body))]
  })
}
