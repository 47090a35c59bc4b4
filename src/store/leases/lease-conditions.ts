/**
 * SQL of leases. A lease of a replica or of a lock ends at a time, unless it is renewed before. The clock of the
 * database sets and compares these times, because the clocks of replicas may differ by hours.
 */
import { sql } from 'kysely'
import type { ParameterSlot, SqlFragment } from '../database/compile-statement.ts'
import type { Engine } from '../database/engine-interface.ts'
import type { ExpectedTime } from './database-clock.ts'

/**
 * The time of the database in milliseconds. On SQLite this is the clock of the machine, which all processes
 * share.
 */
export const DATABASE_TIME: Readonly<Record<Engine['language'], SqlFragment>> = {
  sqlite: sql`cast(unixepoch('subsec') * 1000 as integer)`,
  postgres: sql`cast(extract(epoch from statement_timestamp()) * 1000 as bigint)`,
}

/** True if the clock of the database has not jumped. While it is false, no lease counts as over. */
export function isTimeExpected(
  slot: ParameterSlot<ExpectedTime>,
  language: Engine['language'],
): SqlFragment {
  return sql`${DATABASE_TIME[language]} between ${slot('earliestMs')} and ${slot('latestMs')}`
}

/**
 * True for a lease that has ended, or that ends so late that it was set before the clock went back. The column
 * `lease_ms` of the table has the length of the lease.
 */
export function isLeaseOver(
  column: 'replicas.alive_until' | 'conversations.busy_until',
  slot: ParameterSlot<ExpectedTime>,
  language: Engine['language'],
): SqlFragment {
  const time = DATABASE_TIME[language]
  const until = sql.ref(column)
  const leaseMs = sql.ref(`${column.slice(0, column.indexOf('.'))}.lease_ms`)
  // The last third allows for small corrections of the clock.
  return sql`(${isTimeExpected(slot, language)}
    and (${until} <= ${time} or ${until} > ${time} + ${leaseMs} + ${leaseMs} / 3))`
}
