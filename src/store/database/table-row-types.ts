/** The tables of `migrations/`, as Kysely and the row mapping see them. */
import type { Generated } from 'kysely'

export interface Tables {
  /** `bytes` is null until it ends, and for those from before the column. */
  readonly turns: TurnRow & { readonly bytes: Generated<number | null> }
  /** `called_for` is whose call it is, if it is one that a model made. */
  readonly items: ItemRow & {
    readonly hidden: Generated<number>
    readonly called_for: Generated<string | null>
  }
  readonly conversations: ConversationRow
  readonly replicas: ReplicaRow
  readonly stream_events: StreamEventRow
  readonly summaries: SummaryRow
  readonly facts: FactRow
  readonly requests: RequestRow
  readonly layer_versions: LayerRow
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
  readonly finish: string | null
  readonly served_model: string | null
  /** JSON. */
  readonly digests: string | null
  readonly content_hash: string | null
  readonly fingerprint: string | null
  readonly reasoning_refused_by: string | null
  readonly used_at: number
  readonly short_lived: number
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

export interface ConversationRow {
  readonly id: string
  readonly tenant: string
  readonly user_id: string | null
  /** JSON. */
  readonly metadata: string
  readonly created_at: number
  readonly head: string | null
  readonly busy_by: string | null
  readonly busy_until: number | null
  /** JSON. */
  readonly context: string | null
  readonly reset_after: string | null
}

export interface ReplicaRow {
  readonly id: string
  readonly alive_until: number
}

/** Whole events as text, one behind the other. */
export interface StreamEventRow {
  readonly turn_id: string
  readonly first_number: number
  readonly last_number: number
  readonly tenant: string
  readonly text: string
}

/** A text of a request, or a piece of one, told from that of another round or turn. */
export interface RequestRow {
  readonly turn_id: string
  readonly tenant: string
  readonly round: number
  /** `copies` says what of the body stands in the items of its turn. */
  readonly part: 'about' | 'body' | 'copies' | 'items'
  /** Counted on from round to round. */
  readonly piece: number
  readonly base: string | null
  readonly base_round: number
  readonly hops: number
  readonly prefix: number
  readonly suffix: number
  readonly body: string
}

export interface SummaryRow {
  readonly id: string
  readonly tenant: string
  readonly user_id: string | null
  readonly thread: string | null
  readonly conversation: string | null
  readonly prefix_hash: string
  readonly turns: number
  readonly items: number
  /** JSON. */
  readonly body: string
  readonly tokens_before: number
  readonly tokens_after: number
  readonly model: string
  readonly prompt_version: number
  readonly made_from: string | null
  readonly generation: number
  readonly created_at: number
  readonly used_at: number
  readonly short_lived: number
}

/** A version of the memory of a layer. */
export interface LayerRow {
  readonly id: string
  readonly tenant: string
  readonly user_id: string | null
  readonly layer: string
  readonly thread: string | null
  readonly number: number
  readonly round: number
  /** JSON. */
  readonly body: string
  readonly created_at: number
  readonly used_at: number
  readonly short_lived: number
}

export interface FactRow {
  readonly id: string
  readonly tenant: string
  readonly user_id: string | null
  readonly scope: string
  /** JSON. */
  readonly body: string
  readonly importance: number
  readonly core: number
  readonly words: string
  readonly word_key: string
  readonly valid_until: number | null
  readonly created_at: number
  readonly changed_at: number
  readonly used_at: number
  readonly use_count: number
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
  'finish',
  'served_model',
  'digests',
  'content_hash',
  'fingerprint',
  'reasoning_refused_by',
  'used_at',
  'short_lived',
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

export const REQUEST_COLUMNS = [
  'turn_id',
  'tenant',
  'round',
  'part',
  'piece',
  'base',
  'base_round',
  'hops',
  'prefix',
  'suffix',
  'body',
] as const satisfies readonly (keyof RequestRow)[]

export const SUMMARY_COLUMNS = [
  'id',
  'tenant',
  'user_id',
  'thread',
  'conversation',
  'prefix_hash',
  'turns',
  'items',
  'body',
  'tokens_before',
  'tokens_after',
  'model',
  'prompt_version',
  'made_from',
  'generation',
  'created_at',
  'used_at',
  'short_lived',
] as const satisfies readonly (keyof SummaryRow)[]

export const LAYER_COLUMNS = [
  'id',
  'tenant',
  'user_id',
  'layer',
  'thread',
  'number',
  'round',
  'body',
  'created_at',
  'used_at',
  'short_lived',
] as const satisfies readonly (keyof LayerRow)[]

export const FACT_COLUMNS = [
  'id',
  'tenant',
  'user_id',
  'scope',
  'body',
  'importance',
  'core',
  'words',
  'word_key',
  'valid_until',
  'created_at',
  'changed_at',
  'used_at',
  'use_count',
] as const satisfies readonly (keyof FactRow)[]
