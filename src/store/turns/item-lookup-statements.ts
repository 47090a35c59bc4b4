/** How items are found without knowing the conversation they belong to: by their id or their place. */
import { sql, type RawBuilder } from 'kysely'
import { sqlCompiler, type Slot, type Statement } from '../database/compile-statement.ts'
import type { Engine } from '../database/engine-interface.ts'
import type { OwnerKey } from '../owner.ts'
import { isOfOwner, USER } from './turn-statements.ts'

export interface ItemStatements {
  /** Both take up to MAX_WANTED of what is wanted. */
  readonly itemsById: Statement<WantedIds>
  readonly itemsByPlace: Statement<WantedPlaces>
}

export interface WantedIds extends OwnerKey {
  readonly ids: readonly string[]
}

export interface WantedPlaces extends OwnerKey {
  readonly places: readonly WantedPlace[]
}

export interface WantedPlace {
  readonly turnId: string
  readonly side: string
  readonly index: number
}

/** Three values for each, of at most 100 in a statement. */
export const MAX_WANTED = 32

export function createItemStatements(language: Engine['language']): ItemStatements {
  const query = sqlCompiler(language)
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
function itemsById(slot: Slot<WantedIds>): RawBuilder<unknown> {
  const ids = Array.from(
    { length: MAX_WANTED },
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
      and ${USER} = ${slot(({ user }) => user)}
      order by own.turn_id desc limit 1)
    left join turns on turns.id = items.turn_id`
}

function itemsByPlace(slot: Slot<WantedPlaces>): RawBuilder<unknown> {
  const places = Array.from({ length: MAX_WANTED }, (_, at) => {
    const turnId = slot(({ places }) => places[at]?.turnId ?? '')
    const side = slot(({ places }) => places[at]?.side ?? '')
    const index = slot(({ places }) => places[at]?.index ?? 0)
    return sql`(${turnId}, ${side}, cast(${index} as integer))`
  })
  return sql`with wanted(turn_id, side, place) as (values ${sql.join(places)})
    select ${FOUND} from wanted
    left join turns on turns.id = wanted.turn_id and ${isOfOwner(slot)}
    left join items on items.turn_id = turns.id and items.side = wanted.side
    and items.position = wanted.place`
}
