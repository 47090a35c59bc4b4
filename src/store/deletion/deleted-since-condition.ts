/**
 * Builds the conditions that are true if a thread, a conversation or a user was deleted while data was
 * derived from it. The table `forgotten` names threads and conversations by their id, users by a
 * digest, and threads that were deleted as a whole also with the prefix `thread:`.
 */
import { sql } from 'kysely'
import { digestText } from '../../core/text/digest.ts'
import type { ParameterSlot, SqlFragment } from '../database/compile-statement.ts'
import type { TurnRow } from '../database/table-row-types.ts'

/** True if one of the names was deleted after the job began. Names may be null. */
export function isDeletedSince(
  tenant: SqlFragment,
  names: readonly SqlFragment[],
  begunAtMs: number,
): SqlFragment {
  return sql`exists (select 1 from forgotten where forgotten.tenant = ${tenant}
    and forgotten.name in (${sql.join(names)}) and forgotten.forgotten_at >= ${begunAtMs})`
}

/** Returns the deletion name of the user of a row, or null. */
export function selectUserDeletionName<Row extends Pick<TurnRow, 'user_id'>>(
  slot: ParameterSlot<Row>,
): SqlFragment {
  const name = slot(({ user_id: user }) => (user === null ? null : formatUserDeletionName(user)))
  return sql`cast(${name} as text)`
}

/**
 * Returns the name of a user in the table `forgotten`, which no id of a thread or conversation
 * equals.
 */
export function formatUserDeletionName(user: string): string {
  return `user:${digestText(user)}`
}

/**
 * Marks a thread that was deleted as a whole: further turns of it are rejected. Without the prefix,
 * all turns of the thread were deleted one by one and the next may be under way.
 */
export const THREAD_DELETION_PREFIX = 'thread:'
