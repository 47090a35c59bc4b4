/** The tables of `migrations/`, as Kysely and the row mapping see them. */
export interface Tables {
  readonly turns: TurnRow
  readonly items: ItemRow
  readonly migrations: MigrationRow
}

export interface TurnRow {
  readonly id: string
  readonly tenant: string
  readonly user_id: string | null
  readonly thread: string
  readonly parent: string | null
  readonly dialect: string
  readonly wire: string
  readonly account: string
  readonly model: string
  readonly prefix_hash: string | null
  readonly state: string
  readonly created_at: number
  readonly ended_at: number | null
  /** JSON, as are `failure` and `request`. */
  readonly usage: string | null
  readonly failure: string | null
  readonly request: string
  readonly depth: number
  readonly conversation: string | null
  /** JSON. */
  readonly metadata: string | null
  readonly background: number
  readonly owner: string | null
  readonly deleted_at: number | null
}

export interface ItemRow {
  readonly turn_id: string
  readonly tenant: string
  readonly side: 'in' | 'out'
  readonly position: number
  readonly item_id: string | null
  readonly type: string
  readonly call_id: string | null
  /** The item as JSON, without its origin: that is the turn's. */
  readonly body: string
}

export interface MigrationRow {
  readonly name: string
}

/** All columns, in the order in which they are written. */
export const TURN_COLUMNS = [
  'id',
  'tenant',
  'user_id',
  'thread',
  'parent',
  'dialect',
  'wire',
  'account',
  'model',
  'prefix_hash',
  'state',
  'created_at',
  'ended_at',
  'usage',
  'failure',
  'request',
  'depth',
  'conversation',
  'metadata',
  'background',
  'owner',
  'deleted_at',
] as const satisfies readonly (keyof TurnRow)[]

export const ITEM_COLUMNS = [
  'turn_id',
  'tenant',
  'side',
  'position',
  'item_id',
  'type',
  'call_id',
  'body',
] as const satisfies readonly (keyof ItemRow)[]
