/** SQL that inserts the items of a turn, and replaces them while the turn is open. */
import { sql } from 'kysely'
import type { ParameterSlot, SqlFragment } from '../database/compile-statement.ts'
import type { Engine } from '../database/engine-interface.ts'
import { ITEM_COLUMNS, type ItemRow } from '../database/table-row-types.ts'
import { TURN_TENANT, TURN_USER } from '../owner.ts'

/** The columns of `insert into items`; the last one is the value of `selectUserOfTurn`. */
export const INSERTED_ITEM_COLUMNS = sql.join(
  [...ITEM_COLUMNS, 'called_for'].map((name) => sql.ref(name)),
)

export function insertItem(slot: ParameterSlot<ItemRow>): SqlFragment {
  return sql`insert into items (${INSERTED_ITEM_COLUMNS})
    values (${sql.join(ITEM_COLUMNS.map((name) => slot(name)))},
      ${selectUserOfTurn(slot(findCallingTurnId))})
    on conflict do nothing`
}

/**
 * Replaces the body of an output item if `fromTurn`, the rest of a `select` statement, returns a row: by default, unless
 * its turn has ended.
 */
export function amendItem(
  slot: ParameterSlot<Pick<ItemRow, 'turn_id' | 'tenant' | 'position' | 'body'>>,
  fromTurn = fromOpenTurn(slot),
): SqlFragment {
  return sql`update items set body = ${slot('body')}
    where turn_id = ${slot('turn_id')} and side = 'out' and position = ${slot('position')}
    and exists (select 1 ${fromTurn})`
}

export function fromOpenTurn(
  slot: ParameterSlot<Pick<ItemRow, 'turn_id' | 'tenant'>>,
): SqlFragment {
  return sql`from turns where turns.id = ${slot('turn_id')} and ${TURN_TENANT} = ${slot('tenant')}
    and turns.state in ('queued', 'open')`
}

/**
 * Inserts rows from one parameter, a JSON list of lists with the columns of a row. One statement for each row would
 * take more statements than D1 allows in one request.
 */
export function insertItemList(
  slot: ParameterSlot<readonly ItemRow[]>,
  language: Engine['language'],
): SqlFragment {
  const list = slot((rows) =>
    JSON.stringify(
      rows.map((row) => [...ITEM_COLUMNS.map((name) => row[name]), findCallingTurnId(row)]),
    ),
  )
  const columns = ITEM_COLUMNS.map((name, index) => {
    const value = selectListedValue(index, language)
    return name === 'position' ? sql`cast(${value} as integer)` : value
  })
  const callOwner = sql`(select ${TURN_USER} from turns
    where turns.id = ${selectListedValue(ITEM_COLUMNS.length, language)})`
  const rows =
    language === 'postgres'
      ? sql`jsonb_array_elements(cast(${list} as jsonb)) as listed(value)`
      : sql`json_each(${list}) as listed`
  // `where true` separates the table from `on conflict` for the parser of SQLite.
  return sql`insert into items (${INSERTED_ITEM_COLUMNS})
    select ${sql.join(columns)}, ${callOwner} from ${rows} where true on conflict do nothing`
}

function selectListedValue(index: number, language: Engine['language']): SqlFragment {
  return language === 'postgres'
    ? sql`(listed.value ->> ${sql.lit(index)})`
    : sql`json_extract(listed.value, ${sql.lit(`$[${index}]`)})`
}

/**
 * Returns the turn id of an item that is a model's tool call, and null for other items. Tool
 * outputs have a call id too, but no model made them.
 */
export function findCallingTurnId({
  side,
  call_id: callId,
  turn_id: turnId,
}: ItemRow): string | null {
  return side === 'out' && callId !== null ? turnId : null
}

/** Selects the user of the turn that made a tool call. */
export function selectUserOfTurn(turnId: string | null): SqlFragment {
  return sql`(select ${TURN_USER} from turns where turns.id = ${turnId})`
}
