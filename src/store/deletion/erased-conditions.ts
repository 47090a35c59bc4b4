/**
 * Builds the conditions that hide what a deletion in progress (an *erasure*) covers. A deletion of a user, thread or
 * conversation first inserts a row into the table `erasures` and then deletes the covered rows in many short
 * transactions (`run-erasure.ts`). Every statement that reads or changes data of an owner contains one of these
 * conditions.
 */
import { sql } from 'kysely'
import type { SqlFragment } from '../database/compile-statement.ts'

/** The tables with rows of users, and the column with the time at which a row was created. */
export const USER_TABLES = {
  answer_messages: 'created_at',
  idempotency_keys: 'created_at',
  summaries: 'created_at',
  layer_versions: 'created_at',
  facts: 'created_at',
  media_addresses: 'fetched_at',
  conversations: 'created_at',
} as const

export type UserTable = keyof typeof USER_TABLES

/** True for a turn whose user or thread is being deleted. `turns` is the name or alias of the table. */
export function isTurnErased(turns = 'turns'): SqlFragment {
  const column = (name: string) => sql.ref(`${turns}.${name}`)
  return sql`(${isUserErased(turns, 'created_at')} or exists (select 1 from erasures
    where erasures.tenant = ${column('tenant')} and erasures.kind = 'thread'
    and erasures.name = ${column('thread')} and erasures.requested_at >= ${column('created_at')}
    and (erasures.user_id is null or erasures.user_id = ${column('user_id')})))`
}

/** True for a row whose user is being deleted. */
export function isRowErased(table: UserTable): SqlFragment {
  return isUserErased(table, USER_TABLES[table])
}

/**
 * The time at which a turn was marked as deleted, or null. A finished turn of a conversation that is being deleted
 * counts as marked, before its row is changed.
 */
export function selectDeletedAt(turns = 'turns'): SqlFragment {
  const column = (name: string) => sql.ref(`${turns}.${name}`)
  return sql`coalesce(${column('deleted_at')}, (select erasures.requested_at from erasures
    where erasures.tenant = ${column('tenant')} and erasures.kind = 'conversation'
    and erasures.name = ${column('conversation')}
    and coalesce(erasures.user_id, '') = coalesce(${column('user_id')}, '')
    and ${column('state')} not in ('queued', 'open')))`
}

function isUserErased(table: string, timeColumn: string): SqlFragment {
  return sql`exists (select 1 from erasures where erasures.tenant = ${sql.ref(`${table}.tenant`)}
    and erasures.kind = 'user' and erasures.name = ${sql.ref(`${table}.user_id`)}
    and erasures.requested_at >= ${sql.ref(`${table}.${timeColumn}`)})`
}
