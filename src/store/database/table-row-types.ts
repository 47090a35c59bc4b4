/**
 * Defines the row types of the tables in `migrations/`, and lists the columns of each table in the
 * order in which they are written.
 */
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
  /** The item as JSON without its origin, which is in the row of its turn. */
  readonly body: string
}

export interface ConversationRow {
  readonly id: string
  readonly tenant: string
  readonly user_id: string | null
  /** JSON. */
  readonly metadata: string
  readonly created_at: number
  /** Id of the last turn. */
  readonly head: string | null
  /** Id of the turn that has locked the conversation. */
  readonly busy_by: string | null
  /** The time at which the lock ends, in milliseconds. */
  readonly busy_until: number | null
  /** The policy overrides of the conversation as JSON. */
  readonly context: string | null
  /** Id of the turn that was the head when the conversation was reset. */
  readonly reset_after: string | null
}

export interface ReplicaRow {
  readonly id: string
  readonly alive_until: number
}

/** Consecutive events of a background run, as the text that clients receive. */
export interface StreamEventRow {
  readonly turn_id: string
  readonly first_number: number
  readonly last_number: number
  readonly tenant: string
  readonly text: string
}

/**
 * A part of a request that was sent to an upstream, or a piece of a long part. Stored as the
 * difference to the same part of an earlier request.
 */
export interface RequestRow {
  readonly turn_id: string
  readonly tenant: string
  readonly round: number
  /** `copies` lists the strings of the body that are equal to strings of the turn's items. */
  readonly part: 'about' | 'body' | 'copies' | 'items'
  /** Number of the piece, counted over all rounds of the turn for each part. */
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

/** One version of the content of a memory layer. */
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
