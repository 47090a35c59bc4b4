/** The sender of a request: a tenant (API key) and, if known, one of its users. */
export interface Caller {
  /** Each stored row belongs to one tenant, and requests of other tenants never read it. */
  readonly tenant: string
  /** If set, the rows that the request stores can be read only by requests of this user. */
  readonly user: string | null
}
