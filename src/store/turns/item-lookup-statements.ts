/** SQL that finds items by their id or position, if the client does not name their conversation. */
import { sql } from 'kysely'
import {
  createStatementCompiler,
  type ParameterSlot,
  type SqlFragment,
} from '../database/compile-statement.ts'
import type { ItemPosition } from '../../core/turn-derived-ids.ts'
import type { Engine } from '../database/engine-interface.ts'
import { isTurnErased, selectDeletedAt } from '../deletion/erased-conditions.ts'
import { isTurnOfOwner, TURN_USER, type OwnerKey } from '../owner.ts'

/** Each position takes three parameters, and D1 allows 100 parameters in a statement. */
export const MAX_ITEMS_PER_QUERY = 32

export type ItemLookupStatements = ReturnType<typeof createItemLookupStatements>

export function createItemLookupStatements(language: Engine['language']) {
  const compile = createStatementCompiler(language)
  return {
    /** This and the next statement accept up to `MAX_ITEMS_PER_QUERY` keys. */
    itemsById: compile('items-by-id', selectItemsById),
    itemsByPosition: compile<PositionLookup & BodyLimit>('items-by-place', (slot) =>
      selectItemsByPosition(slot, selectFoundColumns(slot)),
    ),
    /** Returns the bodies that the other statements left out. Accepts as many positions. */
    bodiesByPosition: compile<PositionLookup>('bodies-by-place', (slot) =>
      selectItemsByPosition(slot, BODY_COLUMNS),
    ),
  }
}

interface PositionLookup extends OwnerKey {
  readonly positions: readonly ItemPosition[]
}

export interface BodyLimit {
  /** Longer bodies are left out. */
  readonly maxBodyBytes: number
}

const BODY_COLUMNS = sql`items.turn_id, items.side, items.position, items.body`

function selectFoundColumns(slot: ParameterSlot<BodyLimit>): SqlFragment {
  return sql`items.item_id, items.turn_id, items.side, items.position,
    octet_length(items.body) as bytes,
    case when octet_length(items.body) <= ${slot('maxBodyBytes')} then items.body end as body,
    items.hidden, ${selectDeletedAt()} as deleted_at, turns.wire, turns.account, turns.model, turns.prefix_hash`
}

/**
 * Finds items by their id. If several items have the same id, finds the one of the latest turn.
 * Outer joins force planners to start with the requested ids, even without statistics. An id
 * without an item returns a row of nulls.
 */
function selectItemsById(
  slot: ParameterSlot<OwnerKey & BodyLimit & { readonly ids: readonly string[] }>,
): SqlFragment {
  const ids = Array.from(
    { length: MAX_ITEMS_PER_QUERY },
    (_, index) => sql`(${slot(({ ids }) => ids[index] ?? '')})`,
  )
  const tenant = slot('tenant')
  return sql`with wanted(id) as (values ${sql.join(ids)})
    select ${selectFoundColumns(slot)} from wanted
    left join items on items.tenant = ${tenant} and items.item_id = wanted.id
    and items.turn_id = (
      select candidate.turn_id from items candidate left join turns on turns.id = candidate.turn_id
      where candidate.tenant = ${tenant} and candidate.item_id = wanted.id
      and candidate.hidden = 0 and ${selectDeletedAt()} is null
      and ${TURN_USER} = ${slot('user')} and not ${isTurnErased()}
      order by candidate.turn_id desc limit 1)
    left join turns on turns.id = items.turn_id`
}

function selectItemsByPosition(
  slot: ParameterSlot<PositionLookup>,
  columns: SqlFragment,
): SqlFragment {
  const positions = Array.from({ length: MAX_ITEMS_PER_QUERY }, (_, index) => {
    const turnId = slot((lookup) => lookup.positions[index]?.turnId ?? '')
    const side = slot((lookup) => lookup.positions[index]?.side ?? '')
    const position = slot((lookup) => lookup.positions[index]?.index ?? 0)
    return sql`(${turnId}, ${side}, cast(${position} as integer))`
  })
  return sql`with wanted(turn_id, side, position) as (values ${sql.join(positions)})
    select ${columns} from wanted
    left join turns on turns.id = wanted.turn_id and ${isTurnOfOwner(slot)}
    left join items on items.turn_id = turns.id and items.side = wanted.side
    and items.position = wanted.position`
}
