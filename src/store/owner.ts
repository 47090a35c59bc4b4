/**
 * Whose something is: a tenant's, and within it a user's, where the client says who asks. Whatever can
 * be looked up is looked up by its owner, and somebody else's is not there. Who asks without a user is
 * nobody in particular, and finds only what is nobody's in particular.
 *
 * (The owner of a run is something else: the replica that makes it.)
 */
import { toColumn } from './column.ts'

export interface Owner {
  readonly tenant: string
  readonly user: string | null
}

/** As it is compared with columns, where nobody is the empty text. */
export interface OwnerKey {
  readonly tenant: string
  readonly user: string
}

export function ownerKey({ tenant, user }: Owner): OwnerKey {
  return { tenant: toColumn(tenant), user: user === null ? '' : toColumn(user) }
}
