/**
 * Encodes the owner of a row (a tenant, and a user of that tenant) and builds the conditions that
 * compare owners. Requests without a user find only rows without a user. (The column `owner` of a
 * turn is something else: the replica that runs it.)
 */
import { sql } from 'kysely'
import type { Caller } from '../core/client/caller.ts'
import type { ParameterSlot, SqlFragment } from './database/compile-statement.ts'
import { encodeColumnText } from './database/encode-column-text.ts'
import { isRowErased, isTurnErased } from './deletion/erased-conditions.ts'

/** An owner, encoded for conditions: `user` is the empty text if there is none. */
export interface OwnerKey {
  readonly tenant: string
  readonly user: string
}

export interface OwnedRowKey extends OwnerKey {
  readonly id: string
}

export function encodeOwner({ tenant, user }: Caller): OwnerKey {
  return { tenant: encodeColumnText(tenant), user: user === null ? '' : encodeColumnText(user) }
}

export function encodeOwnedRowKey(owner: Caller, id: string): OwnedRowKey {
  return { ...encodeOwner(owner), id: encodeColumnText(id) }
}

type OwnedTable = 'answer_messages' | 'conversations' | 'facts' | 'layer_versions' | 'summaries'

/**
 * True for rows of the owner that are not being deleted. Used by statements that find rows with an index on owners.
 */
export function isRowOfOwner(table: OwnedTable, slot: ParameterSlot<OwnerKey>): SqlFragment {
  return sql`${sql.ref(`${table}.tenant`)} = ${slot('tenant')}
    and coalesce(${sql.ref(`${table}.user_id`)}, '') = ${slot('user')}
    and not ${isRowErased(table)}`
}

/**
 * True for rows of the owner that are not being deleted. Used by statements that find rows with another index, e.g. by
 * id: the concatenation with an empty text keeps a planner without statistics from scanning all rows of the tenant.
 */
export function isRowOfOwnerUnindexed(
  table: OwnedTable,
  slot: ParameterSlot<OwnerKey>,
): SqlFragment {
  return sql`${sql.ref(`${table}.tenant`)} || '' = ${slot('tenant')}
    and coalesce(${sql.ref(`${table}.user_id`)}, '') || '' = ${slot('user')}
    and not ${isRowErased(table)}`
}

/**
 * True for turns of the owner that are not being deleted. Used by statements that find turns with another index, e.g.
 * by id.
 */
export function isTurnOfOwner(slot: ParameterSlot<OwnerKey>): SqlFragment {
  return sql`${TURN_TENANT} = ${slot('tenant')} and ${TURN_USER} = ${slot('user')}
    and not ${isTurnErased()}`
}

/**
 * The tenant of a turn, as an expression that no index on the tenant matches. Used by statements
 * that must find turns with another index.
 */
export const TURN_TENANT = sql`turns.tenant || ''`

/** The user of a turn, or the empty text for a turn without a user. */
export const TURN_USER = sql`coalesce(turns.user_id, '')`
