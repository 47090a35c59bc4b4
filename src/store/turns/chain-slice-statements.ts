/**
 * SQL that reads parts of a chain of turns without the rest of it. The column `shortcut` of a turn names an
 * ancestor, so that the number of steps to any ancestor grows with the logarithm of the length of the chain.
 * A turn without a shortcut is older than the column; the path then goes on with its parent.
 */
import { sql } from 'kysely'
import {
  createStatementCompiler,
  type ParameterSlot,
  type SqlFragment,
} from '../database/compile-statement.ts'
import type { Engine } from '../database/engine-interface.ts'
import { selectJsonList } from '../database/json-list-parameter.ts'
import type { TurnRow } from '../database/table-row-types.ts'
import { isTurnErased } from '../deletion/erased-conditions.ts'
import { isTurnOfOwner, type OwnedRowKey, type OwnerKey } from '../owner.ts'
import {
  REQUEST_SIZE_BYTES,
  selectSizedTurnColumns,
  selectTurnColumns,
  STORED_SIZE_BYTES,
} from './turn-statements.ts'

export interface ChainSliceKey extends OwnedRowKey {
  /** Depth of the last turn of the slice, if the chain is longer. */
  readonly lastDepth: number
  readonly maxTurns: number
}

export interface InheritedFieldKey extends OwnedRowKey {
  /** A JSON list of digests, each as in the JSON of the column, e.g. `,"tools":"7f3a"`. */
  readonly digests: string
}

export interface InheritedFieldRow extends Pick<TurnRow, 'id' | 'request'> {
  readonly digest: string
}

export interface ItemIdLookup extends OwnerKey {
  /** A JSON list of item ids. */
  readonly itemIds: string
  /** A JSON list of turn ids. */
  readonly turnIds: string
}

/** A turn with an item of a requested id, or a requested turn, whose `item_id` is null. */
export interface TurnOfItemRow extends Pick<TurnRow, 'thread' | 'depth'> {
  readonly item_id: string | null
  /** Null if no turn has an item with this id. */
  readonly id: string | null
  /** 0 for a turn of another user. */
  readonly is_own: number
}

/** Maximum number of turns that are returned for one item id. */
export const MAX_TURNS_PER_ITEM_ID = 32

export function createChainSliceStatements(language: Engine['language']) {
  const compile = createStatementCompiler(language)
  return {
    /** Returns the turns of a slice, unsorted. */
    sliceTurns: compile('slice-turns', selectSlice),
    turnById: compile<OwnedRowKey>(
      'turn-by-id',
      (slot) => sql`select ${selectTurnColumns()}, ${STORED_SIZE_BYTES} as bytes,
          ${REQUEST_SIZE_BYTES} as request_bytes from turns
        where turns.id = ${slot('id')} and ${isTurnOfOwner(slot)}`,
    ),
    /** Returns the ancestors that store the fields which a turn shares with its parent. */
    inheritedFields: compile<InheritedFieldKey>('inherited-fields', (slot) =>
      selectInheritedFields(language, slot),
    ),
    turnsOfItems: compile<ItemIdLookup>('turns-of-items', (slot) =>
      selectTurnsOfItems(language, slot),
    ),
  }
}

/**
 * Selects up to `maxTurns` turns. The last of them is the ancestor at `lastDepth`; the path to it takes a
 * shortcut if that does not lead beyond it. A parent has a smaller depth, so the path ends.
 */
function selectSlice(slot: ParameterSlot<ChainSliceKey>): SqlFragment {
  const lastDepth = slot('lastDepth')
  return sql`with recursive path(id, depth, parent, shortcut) as (
      select turns.id, turns.depth, turns.parent, turns.shortcut from turns
      where turns.id = ${slot('id')} and ${isTurnOfOwner(slot)}
    union all
      select turns.id, turns.depth, turns.parent, turns.shortcut from path cross join turns
      where path.depth > ${lastDepth} and turns.depth < path.depth and ${isTurnOfOwner(slot)}
      and turns.id = coalesce((
        select far.id from turns far where far.id = path.shortcut and far.depth >= ${lastDepth}
        and not ${isTurnErased('far')}),
        path.parent)
    ), chain(id, parent, number, bytes, request_bytes) as (
      select turns.id, turns.parent, 1, ${STORED_SIZE_BYTES}, ${REQUEST_SIZE_BYTES} from turns
      where turns.id = (select path.id from path order by path.depth limit 1)
    union all
      select turns.id, turns.parent, chain.number + 1, ${STORED_SIZE_BYTES}, ${REQUEST_SIZE_BYTES}
      from chain cross join turns
      where turns.id = chain.parent and chain.number < ${slot('maxTurns')} and ${isTurnOfOwner(slot)}
    )
    select ${selectSizedTurnColumns()} from chain cross join turns where turns.id = chain.id`
}

/**
 * Follows each digest upwards to the first ancestor that has it: that one stores the field. An ancestor with the same
 * digest has the same value, so a shortcut may leave out turns with other digests.
 */
function selectInheritedFields(
  language: Engine['language'],
  slot: ParameterSlot<InheritedFieldKey>,
): SqlFragment {
  const findText = sql.raw(language === 'postgres' ? 'strpos' : 'instr')
  const selectWithDigest = (id: SqlFragment, digest: SqlFragment) =>
    sql`(select other.id from turns other where other.id = ${id}
      and other.tenant || '' = ${slot('tenant')} and coalesce(other.user_id, '') = ${slot('user')}
      and not ${isTurnErased('other')}
      and ${findText}(',' || substr(other.digests, 2), ${digest}) > 0)`
  const selectNext = (digest: SqlFragment) =>
    sql`coalesce(${selectWithDigest(sql`turns.shortcut`, digest)},
      ${selectWithDigest(sql`turns.parent`, digest)})`
  return sql`with recursive source(digest, id, next) as (
      select wanted.value, turns.id, ${selectNext(sql`wanted.value`)}
      from ${selectJsonList(language, slot('digests'))} cross join turns
      where turns.id = ${slot('id')} and ${isTurnOfOwner(slot)}
    union
      select source.digest, turns.id, ${selectNext(sql`source.digest`)}
      from source cross join turns where turns.id = source.next
    )
    select source.digest, turns.id, turns.request from source cross join turns
    where turns.id = source.id and source.next is null`
}

/**
 * Selects the latest turns of the owner that have an item with one of the ids, and the turns of the list. Looks
 * up each id, because many turns have the same item id if a client reuses it.
 */
function selectTurnsOfItems(
  language: Engine['language'],
  slot: ParameterSlot<ItemIdLookup>,
): SqlFragment {
  const candidates = sql`select distinct items.turn_id from items
    where items.tenant = ${slot('tenant')} and items.item_id = wanted.value
    order by items.turn_id desc limit ${sql.lit(MAX_TURNS_PER_ITEM_ID)}`
  const itemIds = selectJsonList(language, slot('itemIds'))
  const ofItems =
    language === 'postgres'
      ? sql`${itemIds} cross join lateral (${candidates}) candidate
        left join turns on turns.id = candidate.turn_id`
      : sql`${itemIds} left join turns on turns.id in (${candidates})`
  return sql`select wanted.value as item_id, turns.id, turns.thread, turns.depth,
      case when ${isTurnOfOwner(slot)} then 1 else 0 end as is_own from ${ofItems}
    union all
    select null, turns.id, turns.thread, turns.depth, 1
    from ${selectJsonList(language, slot('turnIds'))} cross join turns
    where turns.id = wanted.value and ${isTurnOfOwner(slot)}`
}
