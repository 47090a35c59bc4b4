/** How items are found without knowing the conversation they belong to: by their id or their place. */
import { sql, type RawBuilder } from 'kysely'
import {
  createSqlCompiler,
  type ParameterSlot,
  type CompiledStatement,
} from '../database/compile-statement.ts'
import type { Engine } from '../database/engine-interface.ts'
import type { OwnerKey } from '../owner.ts'
import { isTurnOfOwner, TURN_USER } from './turn-statements.ts'

export interface ItemLookupStatements {
  /** Both take up to MAX_WANTED of what is wanted. */
  readonly itemsById: CompiledStatement<ItemIdLookup>
  readonly itemsByPlace: CompiledStatement<ItemPositionLookup>
}

export interface ItemIdLookup extends OwnerKey {
  readonly ids: readonly string[]
}

export interface ItemPositionLookup extends OwnerKey {
  readonly places: readonly ItemPosition[]
}

export interface ItemPosition {
  readonly turnId: string
  readonly side: string
  readonly index: number
}

/** Three values for each, of at most 100 in a statement. */
export const MAX_ITEMS_PER_QUERY = 32

export function createItemLookupStatements(language: Engine['language']): ItemLookupStatements {
  const query = createSqlCompiler(language)
  return {
    itemsById: query('items-by-id', itemsById),
    itemsByPlace: query('items-by-place', itemsByPlace),
  }
}

const FOUND = sql`items.item_id, items.turn_id, items.side, items.position, items.body,
  items.hidden, turns.deleted_at, turns.wire, turns.account, turns.model, turns.prefix_hash`

/**
 * Of several items with one id the newest: turn ids begin with the time.
 *
 * Outer joins leave no choice but to begin with what is wanted, and a planner without statistics may
 * choose badly. What is not found comes as a row of nulls.
 */
function itemsById(slot: ParameterSlot<ItemIdLookup>): RawBuilder<unknown> {
  const ids = Array.from(
    { length: MAX_ITEMS_PER_QUERY },
    (_, at) => sql`(${slot(({ ids }) => ids[at] ?? '')})`,
  )
  const tenant = slot((wanted) => wanted.tenant)
  return sql`with wanted(id) as (values ${sql.join(ids)})
    select ${FOUND} from wanted
    left join items on items.tenant = ${tenant} and items.item_id = wanted.id
    and items.turn_id = (
      select own.turn_id from items own left join turns on turns.id = own.turn_id
      where own.tenant = ${tenant} and own.item_id = wanted.id
      and own.hidden = 0 and turns.deleted_at is null
      and ${TURN_USER} = ${slot(({ user }) => user)}
      order by own.turn_id desc limit 1)
    left join turns on turns.id = items.turn_id`
}

function itemsByPlace(slot: ParameterSlot<ItemPositionLookup>): RawBuilder<unknown> {
  const places = Array.from({ length: MAX_ITEMS_PER_QUERY }, (_, at) => {
    const turnId = slot(({ places }) => places[at]?.turnId ?? '')
    const side = slot(({ places }) => places[at]?.side ?? '')
    const index = slot(({ places }) => places[at]?.index ?? 0)
    return sql`(${turnId}, ${side}, cast(${index} as integer))`
  })
  return sql`with wanted(turn_id, side, place) as (values ${sql.join(places)})
    select ${FOUND} from wanted
    left join turns on turns.id = wanted.turn_id and ${isTurnOfOwner(slot)}
    left join items on items.turn_id = turns.id and items.side = wanted.side
    and items.position = wanted.place`
}
