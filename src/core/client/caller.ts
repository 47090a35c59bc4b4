/** Identifies the sender of a request. */
export interface Caller {
  /** Every stored row belongs to a tenant; other tenants never see it. */
  readonly tenant: string
  /** If set, rows that this caller stores are visible only to this user of the tenant. */
  readonly user: string | null
}
