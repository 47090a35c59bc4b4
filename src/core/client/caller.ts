/** Identifies who sends a request: a tenant and, if known, one of its users. */

export interface Caller {
  /** Everything that is kept belongs to a tenant and is found by it alone. */
  readonly tenant: string
  /** Where one is known, what is kept is this user's, and is found by nobody else of the tenant. */
  readonly user: string | null
}
