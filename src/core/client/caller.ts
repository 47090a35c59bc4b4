/** The sender of a request: a tenant (API key) and, if known, one of its users. */
export interface Caller {
  /** Owner of every stored row; other tenants never see the row. */
  readonly tenant: string
  /** If a user is set, stored rows are visible only to this user of the tenant. */
  readonly user: string | null
}
