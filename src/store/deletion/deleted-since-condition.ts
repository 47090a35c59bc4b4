/**
 * Builds the conditions that are true if a thread, a conversation or a user was deleted while a job
 * derived data from it, e.g. a summary. The deletion log (table `forgotten`) contains threads and
 * conversations by their id, users by a digest, and deletions of a complete thread also with the
 * prefix `thread:`.
 */
import { sql } from 'kysely'
import { digestText } from '../../core/text/digest.ts'
import type { ParameterSlot, SqlFragment } from '../database/compile-statement.ts'
import type { TurnRow } from '../database/table-row-types.ts'

/**
 * Builds the condition that one of the names was logged as deleted after the start of the job. A
 * name may be null.
 */
export function isDeletedSince(
  tenant: SqlFragment,
  names: readonly SqlFragment[],
  jobStartedAtMs: number,
): SqlFragment {
  return sql`exists (select 1 from forgotten where forgotten.tenant = ${tenant}
    and forgotten.name in (${sql.join(names)}) and forgotten.forgotten_at >= ${jobStartedAtMs})`
}

/**
 * Selects the name under which the deletion log contains the user of a row; null without a user.
 */
export function selectUserDeletionName<Row extends Pick<TurnRow, 'user_id'>>(
  slot: ParameterSlot<Row>,
): SqlFragment {
  const name = slot(({ user_id: user }) => (user === null ? null : formatUserDeletionName(user)))
  return sql`cast(${name} as text)`
}

/**
 * Formats the name under which the deletion log contains a user: `user:` and a digest of the user.
 * No id of a thread or conversation is equal to it.
 */
export function formatUserDeletionName(user: string): string {
  return `user:${digestText(user)}`
}

/**
 * Prefix of the deletion log entry of a thread whose turns were all deleted at once: no new turn
 * may continue that thread. If the turns were deleted one by one, the entry has no prefix, and a
 * new turn may continue the thread.
 */
export const THREAD_DELETION_PREFIX = 'thread:'
