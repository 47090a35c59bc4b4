/** SQL conditions for unfinished runs, and for those whose replica has died. */
import { sql } from 'kysely'
import type { ParameterSlot, SqlFragment } from '../database/compile-statement.ts'
import type { Engine } from '../database/engine-interface.ts'
import type { ExpectedTime } from '../leases/database-clock.ts'
import { DATABASE_TIME, isLeaseOver, isTimeExpected } from '../leases/lease-conditions.ts'
import { OWNERLESS_RUN_TIMEOUT_MS } from './retention-and-orphan-times.ts'

/**
 * Condition of unfinished turns. Must be the same text as the condition of the partial index on
 * unfinished turns, otherwise databases do not use that index.
 */
export const IS_RUN_UNFINISHED = sql`turns.state in ('queued', 'open')`

/**
 * True for an unfinished run whose replica has no lease or whose lease is over. If no replica is recorded, true
 * one hour after the start of the run. Requires `turns left join replicas`.
 */
export function isRunOrphaned(
  slot: ParameterSlot<ExpectedTime>,
  language: Engine['language'],
): SqlFragment {
  return sql`${IS_RUN_UNFINISHED} and (${isLeaseOver('replicas.alive_until', slot, language)}
    or (turns.owner is not null and replicas.id is null)
    or (turns.owner is null and ${isTimeExpected(slot, language)}
      and turns.created_at <= ${DATABASE_TIME[language]} - ${sql.lit(OWNERLESS_RUN_TIMEOUT_MS)}))`
}
