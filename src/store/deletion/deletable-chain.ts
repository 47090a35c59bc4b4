/**
 * Selects a turn that is marked as deleted, then its parent if the parent is marked too, and so on, up to a turn that
 * another turn or a conversation needs, or up to the limit of one transaction.
 */
import { sql } from 'kysely'
import type { ParameterSlot, SqlFragment } from '../database/compile-statement.ts'
import { MIN_ROWS } from './slice-size.ts'

export interface ChainStart {
  readonly tenant: string
  readonly id: string
}

/**
 * Maximum number of turns of a chain that one transaction deletes, if they are not larger than `MAX_CHAIN_BYTES`. No
 * transaction of an erasure is smaller, so these turns always go together.
 */
const MAX_CHAIN_TURNS = MIN_ROWS
const MAX_CHAIN_BYTES = 500_000

/**
 * Builds the common table expression `deletable`: the turns that one transaction may delete, and the turn after them
 * (`is_next`). `isFirst` restricts the first turn.
 */
export function withDeletableChain(
  slot: ParameterSlot<ChainStart>,
  isFirst: SqlFragment,
): SqlFragment {
  const isNeeded = (exceptChild: SqlFragment) => sql`(
    exists (select 1 from turns child where child.parent = turns.id ${exceptChild})
    or exists (select 1 from conversations where conversations.head = turns.id))`
  const isNext = sql`case when deletable.number + 1 >= ${sql.lit(MAX_CHAIN_TURNS)}
    or deletable.total + coalesce(turns.bytes, 0) > ${sql.lit(MAX_CHAIN_BYTES)} then 1 else 0 end`
  return sql`with recursive deletable(id, parent, number, bytes, total, is_next) as (
      select turns.id, turns.parent, 0, coalesce(turns.bytes, 0), coalesce(turns.bytes, 0), 0 from turns
      where turns.id = ${slot('id')} and turns.tenant || '' = ${slot('tenant')} and ${isFirst}
      and turns.deleted_at is not null and not ${isNeeded(sql``)}
    union
      select turns.id, turns.parent, deletable.number + 1, coalesce(turns.bytes, 0),
        deletable.total + coalesce(turns.bytes, 0), ${isNext}
      from deletable join turns on turns.id = deletable.parent
      where turns.tenant || '' = ${slot('tenant')} and deletable.is_next = 0
      and turns.deleted_at is not null and not ${isNeeded(sql`and child.id <> deletable.id`)}
    )`
}
