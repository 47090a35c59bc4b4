/**
 * Turns and items as rows. An item's text is the JSON of the item and nothing else, so what nobody
 * understands survives; beside it stand the few columns that it is looked up by. What was said is
 * sealed; ids, labels and hashes are not, because they are searched for.
 */
import type { JsonObject } from '../../core/json/json.ts'
import { serializeItem, removeOrigin } from '../../core/items/serialize-item.ts'
import {
  encodeColumn,
  encodeKeyColumn,
  encodeNullableColumn,
} from '../database/escape-column-text.ts'
import { extractItemMedia, type ExtractedMedia } from '../media/extract-item-media.ts'
import type { StorageCipher } from '../encryption/cipher.ts'
import type { NewTurn, PlacedItem, TurnEnding } from './turn-store-interface.ts'
import type { ItemRow, TurnRow } from '../database/table-row-types.ts'

export function encodeTurn(turn: NewTurn, { seal }: StorageCipher): TurnRow {
  const [id, tenant] = [encodeColumn(turn.id), encodeColumn(turn.tenant)]
  const place = { tenant, turnId: id, part: 'request', position: 0 } as const
  return {
    id,
    tenant,
    user_id: encodeNullableColumn(turn.user),
    thread: encodeColumn(turn.thread),
    parent: encodeNullableColumn(turn.parent),
    dialect: turn.dialect,
    wire: turn.origin.wire,
    account: encodeColumn(turn.origin.account),
    model: encodeColumn(turn.origin.model),
    prefix_hash: turn.origin.prefixHash,
    state: turn.background ? 'queued' : 'open',
    created_at: turn.createdAtMs,
    ended_at: null,
    usage: null,
    failure: null,
    request: seal(JSON.stringify(turn.request), place),
    depth: turn.depth,
    conversation: encodeNullableColumn(turn.conversation),
    metadata: jsonOrNull(turn.metadata),
    background: turn.background ? 1 : 0,
    owner: turn.owner,
    deleted_at: null,
    finish: null,
    served_model: null,
    digests: jsonOrNull(turn.digests),
    content_hash: null,
    fingerprint: null,
    reasoning_refused_by: null,
    used_at: turn.createdAtMs,
    short_lived: turn.isTemporary === true ? 1 : 0,
  }
}

function jsonOrNull(value: object | null | undefined): string | null {
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

export function encodeTurnEnding(ending: TurnEnding, { seal }: StorageCipher): TurnRowEnding {
  const [id, tenant] = [encodeColumn(ending.turnId), encodeColumn(ending.tenant)]
  // A provider that refuses a text may repeat it.
  const failure = jsonOrNull(ending.failure)
  const place = { tenant, turnId: id, part: 'failure', position: 0 } as const
  return {
    id,
    tenant,
    state: ending.state,
    wire: ending.origin.wire,
    account: encodeColumn(ending.origin.account),
    model: encodeColumn(ending.origin.model),
    ended_at: ending.endedAtMs,
    usage: jsonOrNull(ending.usage),
    failure: failure === null ? null : seal(failure, place),
    finish: ending.finish ?? null,
    served_model: encodeNullableColumn(ending.servedModel),
    content_hash: ending.contentHash ?? null,
    prefix_hash: ending.origin.prefixHash,
    fingerprint: encodeNullableColumn(ending.fingerprint),
    reasoning_refused_by: encodeNullableColumn(ending.reasoningRefusedBy),
  }
}

/** An item without its media, and those, which are rows of their own. */
export interface EncodedItem extends ItemRow {
  /** The body, not sealed. */
  readonly text: string
  readonly media: readonly ExtractedMedia[]
}

export function encodeInputItems(
  { id, tenant, input }: NewTurn,
  sealer: StorageCipher,
): readonly EncodedItem[] {
  const turn = { id: encodeColumn(id), tenant: encodeColumn(tenant) }
  return input.map((item, position) => itemRow(turn, { side: 'in', position, item }, sealer))
}

export function encodeOutputItems(
  turnId: string,
  tenant: string,
  items: readonly PlacedItem[],
  sealer: StorageCipher,
): readonly EncodedItem[] {
  const turn = { id: encodeColumn(turnId), tenant: encodeColumn(tenant) }
  return items.map((placed) => itemRow(turn, { side: 'out', ...placed }, sealer))
}

function itemRow(
  turn: { readonly id: string; readonly tenant: string },
  { side, position, item }: PlacedItem & Pick<ItemRow, 'side'>,
  { seal }: StorageCipher,
): EncodedItem {
  // Who made an answer is told by its turn; of what was said before, only the item itself can tell.
  const tells = side === 'in' && item.origin !== undefined
  const body: object = tells ? item : removeOrigin(item)
  // What only a wire understands is looked up by the names that the wire gave it.
  const names: JsonObject = item.type === 'opaque' ? item.raw : (body as JsonObject)
  const { id, tenant } = turn
  const written = tells ? JSON.stringify(item) : serializeItem(item, body)
  const { text, media } = extractItemMedia(tenant, body, written)
  return {
    media,
    text,
    turn_id: id,
    tenant,
    side,
    position,
    item_id: encodeKeyColumn(item.id ?? names['id']),
    type: encodeKeyColumn(names['type']) ?? item.type,
    call_id: encodeKeyColumn(names['call_id']),
    body: seal(text, { tenant, turnId: id, part: side, position }),
  }
}
