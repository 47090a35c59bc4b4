/**
 * Turns and items as rows. An item's text is the JSON of the item and nothing else, so what nobody
 * understands survives; beside it stand the few columns that it is looked up by. What was said is
 * sealed; ids, labels and hashes are not, because they are searched for.
 */
import type { JsonObject } from '../../core/json/json.ts'
import { itemText, withoutOrigin } from '../../core/items/serialize-item.ts'
import { toColumn, toKeyColumn, toMaybeColumn } from '../database/escape-column-text.ts'
import { takenOut, type TakenMedium } from '../media/extract-item-media.ts'
import type { Sealer } from '../encryption/cipher.ts'
import type { NewTurn, PlacedItem, TurnEnding } from './turn-store-interface.ts'
import type { ItemRow, TurnRow } from '../database/table-row-types.ts'

export function turnRow(turn: NewTurn, { seal }: Sealer): TurnRow {
  const [id, tenant] = [toColumn(turn.id), toColumn(turn.tenant)]
  const place = { tenant, turnId: id, part: 'request', position: 0 } as const
  return {
    id,
    tenant,
    user_id: toMaybeColumn(turn.user),
    thread: toColumn(turn.thread),
    parent: toMaybeColumn(turn.parent),
    dialect: turn.dialect,
    wire: turn.origin.wire,
    account: toColumn(turn.origin.account),
    model: toColumn(turn.origin.model),
    prefix_hash: turn.origin.prefixHash,
    state: turn.background ? 'queued' : 'open',
    created_at: turn.createdAtMs,
    ended_at: null,
    usage: null,
    failure: null,
    request: seal(JSON.stringify(turn.request), place),
    depth: turn.depth,
    conversation: toMaybeColumn(turn.conversation),
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

export function endingRow(ending: TurnEnding, { seal }: Sealer): TurnRowEnding {
  const [id, tenant] = [toColumn(ending.turnId), toColumn(ending.tenant)]
  // A provider that refuses a text may repeat it.
  const failure = jsonOrNull(ending.failure)
  const place = { tenant, turnId: id, part: 'failure', position: 0 } as const
  return {
    id,
    tenant,
    state: ending.state,
    wire: ending.origin.wire,
    account: toColumn(ending.origin.account),
    model: toColumn(ending.origin.model),
    ended_at: ending.endedAtMs,
    usage: jsonOrNull(ending.usage),
    failure: failure === null ? null : seal(failure, place),
    finish: ending.finish ?? null,
    served_model: toMaybeColumn(ending.servedModel),
    content_hash: ending.contentHash ?? null,
    prefix_hash: ending.origin.prefixHash,
    fingerprint: toMaybeColumn(ending.fingerprint),
    reasoning_refused_by: toMaybeColumn(ending.reasoningRefusedBy),
  }
}

/** An item without its media, and those, which are rows of their own. */
export interface WrittenItem extends ItemRow {
  /** The body, not sealed. */
  readonly text: string
  readonly media: readonly TakenMedium[]
}

export function inputRows({ id, tenant, input }: NewTurn, sealer: Sealer): readonly WrittenItem[] {
  const turn = { id: toColumn(id), tenant: toColumn(tenant) }
  return input.map((item, position) => itemRow(turn, { side: 'in', position, item }, sealer))
}

export function outputRows(
  turnId: string,
  tenant: string,
  items: readonly PlacedItem[],
  sealer: Sealer,
): readonly WrittenItem[] {
  const turn = { id: toColumn(turnId), tenant: toColumn(tenant) }
  return items.map((placed) => itemRow(turn, { side: 'out', ...placed }, sealer))
}

function itemRow(
  turn: { readonly id: string; readonly tenant: string },
  { side, position, item }: PlacedItem & Pick<ItemRow, 'side'>,
  { seal }: Sealer,
): WrittenItem {
  // Who made an answer is told by its turn; of what was said before, only the item itself can tell.
  const tells = side === 'in' && item.origin !== undefined
  const body: object = tells ? item : withoutOrigin(item)
  // What only a wire understands is looked up by the names that the wire gave it.
  const names: JsonObject = item.type === 'opaque' ? item.raw : (body as JsonObject)
  const { id, tenant } = turn
  const written = tells ? JSON.stringify(item) : itemText(item, body)
  const { text, media } = takenOut(tenant, body, written)
  return {
    media,
    text,
    turn_id: id,
    tenant,
    side,
    position,
    item_id: toKeyColumn(item.id ?? names['id']),
    type: toKeyColumn(names['type']) ?? item.type,
    call_id: toKeyColumn(names['call_id']),
    body: seal(text, { tenant, turnId: id, part: side, position }),
  }
}
