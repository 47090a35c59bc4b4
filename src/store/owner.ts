/**
 * Encodes the owner of a row, a tenant and within it a user, for columns. Rows without a user are found
 * only by requests without a user. (The owner of a run is something else: the replica that makes it.)
 */
import type { Caller } from '../core/client/caller.ts'
import { encodeColumn } from './database/escape-column-text.ts'

/** As it is compared with columns, where nobody is the empty text. */
export interface OwnerKey {
  readonly tenant: string
  readonly user: string
}

export function encodeOwner({ tenant, user }: Caller): OwnerKey {
  return { tenant: encodeColumn(tenant), user: user === null ? '' : encodeColumn(user) }
}
