/**
 * Encodes the owner of a row (a tenant, and a user of that tenant) and builds the conditions that
 * compare owners. Requests without a user find only rows without a user. (The column `owner` of a
 * turn is something else: the replica that runs it.)
 */
import { sql } from 'kysely'
import type { Caller } from '../core/client/caller.ts'
import type { ParameterSlot, SqlFragment } from './database/compile-statement.ts'
import { encodeColumn } from './database/escape-column-text.ts'

/** An owner, encoded for conditions: `user` is the empty text if there is none. */
export interface OwnerKey {
  readonly tenant: string
  readonly user: string
}

export interface OwnedRowKey extends OwnerKey {
  readonly id: string
}

export function encodeOwner({ tenant, user }: Caller): OwnerKey {
  return { tenant: encodeColumn(tenant), user: user === null ? '' : encodeColumn(user) }
}

export function encodeOwnedRowKey(owner: Caller, id: string): OwnedRowKey {
  return { ...encodeOwner(owner), id: encodeColumn(id) }
}

type OwnedTable = 'conversations' | 'facts' | 'layer_versions' | 'summaries'

/** True for rows of the owner. For statements that find rows by their owner. */
export function isOwned(table: OwnedTable, slot: ParameterSlot<OwnerKey>): SqlFragment {
  return sql`${sql.ref(`${table}.tenant`)} = ${slot('tenant')}
    and coalesce(${sql.ref(`${table}.user_id`)}, '') = ${slot('user')}`
}

/**
 * True for rows of the owner. For statements that find rows by another key, e.g. an id: `
 *
 * ''` prevents that a planner without statistics scans all rows of the tenant with another index.
 */
export function isOwnedToo(table: OwnedTable, slot: ParameterSlot<OwnerKey>): SqlFragment {
  return sql`${sql.ref(`${table}.tenant`)} || '' = ${slot('tenant')}
    and coalesce(${sql.ref(`${table}.user_id`)}, '') || '' = ${slot('user')}`
}

/** True for turns of the owner. For statements that find turns by another key, e.g. an id. */
export function isTurnOfOwner(slot: ParameterSlot<OwnerKey>): SqlFragment {
  return sql`${TURN_TENANT} = ${slot('tenant')} and ${TURN_USER} = ${slot('user')}`
}

/**
 * The tenant of a turn, for statements that find turns by another key. `
 *
 * ''` prevents that a planner uses an index on the tenant.
 */
export const TURN_TENANT = sql`turns.tenant || ''`

/** The user of a turn; turns without a user compare as the empty text. */
export const TURN_USER = sql`coalesce(turns.user_id, '')`
