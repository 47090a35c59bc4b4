/**
 * Whether any of the names, of which some may be null, has been forgotten since then: a condition of
 * whatever is written when it is done. What a thread or a conversation is called in what is made from
 * it is its id; users, and threads that are forgotten with all their turns, have names of their own.
 */
import { sql, type RawBuilder } from 'kysely'
import { digestText } from '../../core/text/digest.ts'
import type { ParameterSlot } from '../database/compile-statement.ts'
import type { TurnRow } from '../database/table-row-types.ts'

export function isDeletedSince(
  tenant: RawBuilder<unknown>,
  names: readonly RawBuilder<unknown>[],
  begunAtMs: number,
): RawBuilder<unknown> {
  return sql`exists (select 1 from forgotten where forgotten.tenant = ${tenant}
    and forgotten.name in (${sql.join(names)}) and forgotten.forgotten_at >= ${begunAtMs})`
}

/** What the user of a row is called here. */
export function selectUserDeletionName<Row extends Pick<TurnRow, 'user_id'>>(
  slot: ParameterSlot<Row>,
): RawBuilder<unknown> {
  // A query has one type for its values, and compares with nobody all the same.
  const name = slot(
    ({ user_id: user }) => (user === null ? null : formatUserDeletionName(user)) as string,
  )
  return sql`cast(${name} as text)`
}

/** No thread and no conversation is called like that. */
export function formatUserDeletionName(user: string): string {
  return `user:${digestText(user)}`
}

/**
 * A thread that nobody wants anything more of. Of one whose turns were deleted one by one, the next may
 * be on its way.
 */
export const THREAD_DELETION_PREFIX = 'thread:'
