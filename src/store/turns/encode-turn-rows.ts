/**
 * Encodes turns and items as rows. The body of an item is its JSON, so unknown fields are not lost;
 * a few more columns make the item searchable. Contents are encrypted; ids, metadata and hashes are
 * not, because queries compare them.
 */
import type { JsonObject } from '../../core/json/json.ts'
import { serializeItem, removeOrigin } from '../../core/items/serialize-and-measure-item.ts'
import {
  encodeColumnText,
  encodeKeyColumn,
  encodeNullableColumn,
} from '../database/encode-column-text.ts'
import { extractItemMedia, type ExtractedMedia } from '../media/extract-item-media.ts'
import { locateText, type StorageCipher } from '../encryption/cipher.ts'
import { cutLongText } from '../pieces/cut-long-text.ts'
import { encodeOwnedRowKey, type OwnedRowKey } from '../owner.ts'
import type { NewTurn, PlacedItem, TurnEnding, TurnKey } from './turn-store-interface.ts'
import type { ItemRow, TextPieceRow, TurnRow } from '../database/table-row-types.ts'

/** The row of a turn, and the pieces of its request fields if these are long. */
export interface EncodedTurn {
  readonly row: TurnRow
  readonly pieces: readonly TextPieceRow[]
}

export function encodeTurn(turn: NewTurn, cipher: StorageCipher): EncodedTurn {
  const { id, tenant, user } = encodeOwnedRowKey(turn, turn.id)
  const location = { tenant, user, rowId: id, part: 'request', position: 0 } as const
  const request = cutLongText(JSON.stringify(turn.request), location, cipher)
  const row = {
    id,
    tenant,
    user_id: encodeNullableColumn(turn.user),
    thread: encodeColumnText(turn.thread),
    parent: encodeNullableColumn(turn.parent),
    dialect: turn.dialect,
    wire: turn.origin.wire,
    account: encodeColumnText(turn.origin.account),
    model: encodeColumnText(turn.origin.model),
    prefix_hash: turn.origin.prefixHash,
    state: turn.background ? 'queued' : 'open',
    created_at: turn.createdAtMs,
    ended_at: null,
    usage: null,
    failure: null,
    request: request.column,
    depth: turn.depth,
    conversation: encodeNullableColumn(turn.conversation),
    metadata: encodeJsonOrNull(turn.metadata),
    background: turn.background ? 1 : 0,
    owner: turn.replicaId,
    deleted_at: null,
    finish: null,
    served_model: null,
    digests: encodeJsonOrNull(turn.digests),
    content_hash: null,
    fingerprint: null,
    reasoning_refused_by: null,
    used_at: turn.createdAtMs,
    short_lived: turn.isTemporary === true ? 1 : 0,
  }
  return { row, pieces: request.pieces }
}

function encodeJsonOrNull(value: object | null | undefined): string | null {
  return value === null || value === undefined ? null : JSON.stringify(value)
}

export type TurnRowEnding = Pick<
  TurnRow,
  | 'id'
  | 'tenant'
  | 'state'
  | 'wire'
  | 'account'
  | 'model'
  | 'ended_at'
  | 'usage'
  | 'failure'
  | 'finish'
  | 'served_model'
  | 'content_hash'
  | 'prefix_hash'
  | 'fingerprint'
  | 'reasoning_refused_by'
>

export function encodeTurnEnding(ending: TurnEnding, { encrypt }: StorageCipher): TurnRowEnding {
  const { id, tenant, user } = encodeOwnedRowKey(ending, ending.turnId)
  // Encrypts the failure too, because a provider that rejects a text may quote it.
  const failure = encodeJsonOrNull(ending.failure)
  return {
    id,
    tenant,
    state: ending.state,
    wire: ending.origin.wire,
    account: encodeColumnText(ending.origin.account),
    model: encodeColumnText(ending.origin.model),
    ended_at: ending.endedAtMs,
    usage: encodeJsonOrNull(ending.usage),
    failure:
      failure === null ? null : encrypt(failure, locateText({ tenant, user }, id, 'failure')),
    finish: ending.finish ?? null,
    served_model: encodeNullableColumn(ending.servedModel),
    content_hash: ending.contentHash ?? null,
    prefix_hash: ending.origin.prefixHash,
    fingerprint: encodeNullableColumn(ending.fingerprint),
    reasoning_refused_by: encodeNullableColumn(ending.reasoningRefusedBy),
  }
}

/** The row of an item, and its media and pieces, which are stored as rows of their own. */
export interface EncodedItem {
  readonly row: ItemRow
  /** The body before encryption, without its media. */
  readonly text: string
  readonly media: readonly ExtractedMedia[]
  readonly pieces: readonly TextPieceRow[]
}

export function encodeInputItems(turn: NewTurn, cipher: StorageCipher): readonly EncodedItem[] {
  const key = encodeOwnedRowKey(turn, turn.id)
  return turn.input.map((item, position) => encodeItem(key, { side: 'in', position, item }, cipher))
}

export function encodeOutputItems(
  turn: TurnKey,
  items: readonly PlacedItem[],
  cipher: StorageCipher,
): readonly EncodedItem[] {
  const key = encodeOwnedRowKey(turn, turn.id)
  return items.map((placed) => encodeItem(key, { side: 'out', ...placed }, cipher))
}

function encodeItem(
  { id, tenant, user }: OwnedRowKey,
  { side, position, item }: PlacedItem & Pick<ItemRow, 'side'>,
  cipher: StorageCipher,
): EncodedItem {
  // The origin of output items is stored in the row of their turn, that of input items in the item.
  const keepsOrigin = side === 'in' && item.origin !== undefined
  const body: object = keepsOrigin ? item : removeOrigin(item)
  // The id and call id of an unknown item are fields of the provider's object.
  const fields: JsonObject = item.type === 'opaque' ? item.raw : (body as JsonObject)
  const json = keepsOrigin ? JSON.stringify(item) : serializeItem(item, body)
  const { text, media } = extractItemMedia(tenant, body, json)
  const location = { tenant, user, rowId: id, part: side, position }
  const { column, pieces } = cutLongText(text, location, cipher)
  const row = {
    turn_id: id,
    tenant,
    side,
    position,
    item_id: encodeKeyColumn(item.id ?? fields['id']),
    type: encodeKeyColumn(fields['type']) ?? item.type,
    call_id: encodeKeyColumn(fields['call_id']),
    body: column,
  }
  return { row, text, media, pieces }
}
