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
 * Builds the condition that the deletion log has an entry for one of the names that is later than
 * the start of the job. A name may be null.
 */
export function isDeletedSince(
  tenant: SqlFragment,
  names: readonly SqlFragment[],
  jobStartedAtMs: number,
): SqlFragment {
  return sql`exists (select 1 from forgotten where forgotten.tenant = ${tenant}
    and forgotten.name in (${sql.join(names)}) and forgotten.forgotten_at >= ${jobStartedAtMs})`
}

/** Selects the name that the user of a row has in the deletion log; null without a user. */
export function selectUserDeletionName<Row extends Pick<TurnRow, 'user_id'>>(
  slot: ParameterSlot<Row>,
): SqlFragment {
  const name = slot(({ user_id: user }) => (user === null ? null : formatUserDeletionName(user)))
  return sql`cast(${name} as text)`
}

/**
 * Formats the name of a user in the deletion log, e.g. `user:` and a digest. No id of a thread or
 * conversation is equal to it.
 */
export function formatUserDeletionName(user: string): string {
  return `user:${digestText(user)}`
}

/**
 * Prefix of the deletion log entry of a thread that was deleted at once: no new turn may continue
 * it. If the turns of a thread were deleted one by one, the entry has no prefix, and a new turn may
 * continue the thread.
 */
export const THREAD_DELETION_PREFIX = 'thread:'
