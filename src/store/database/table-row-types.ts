/**
 * Defines the row types and columns of the tables in `migrations/`. Statements write the columns in
 * this order.
 */
interface ColumnTypes {
  readonly text: string
  readonly 'text?': string | null
  readonly number: number
  readonly 'number?': number | null
  readonly side: 'in' | 'out'
  readonly 'request part': 'about' | 'body' | 'copies' | 'items'
}

type RowOf<Table extends Readonly<Record<string, keyof ColumnTypes>>> = {
  readonly [Name in keyof Table]: ColumnTypes[Table[Name]]
}

function listColumns<Table extends object>(table: Table): readonly (keyof Table & string)[] {
  return Object.keys(table) as (keyof Table & string)[]
}

/** The columns `usage`, `failure`, `request`, `metadata` and `digests` contain JSON. */
const TURNS = {
  id: 'text',
  tenant: 'text',
  user_id: 'text?',
  thread: 'text',
  parent: 'text?',
  dialect: 'text',
  wire: 'text',
  account: 'text',
  model: 'text',
  prefix_hash: 'text?',
  state: 'text',
  created_at: 'number',
  ended_at: 'number?',
  usage: 'text?',
  failure: 'text?',
  request: 'text',
  depth: 'number',
  conversation: 'text?',
  metadata: 'text?',
  background: 'number',
  owner: 'text?',
  deleted_at: 'number?',
  finish: 'text?',
  served_model: 'text?',
  digests: 'text?',
  content_hash: 'text?',
  fingerprint: 'text?',
  reasoning_refused_by: 'text?',
  used_at: 'number',
  short_lived: 'number',
} as const
export type TurnRow = RowOf<typeof TURNS>
export const TURN_COLUMNS = listColumns(TURNS)

const ITEMS = {
  turn_id: 'text',
  tenant: 'text',
  side: 'side',
  position: 'number',
  item_id: 'text?',
  type: 'text',
  call_id: 'text?',
  /** The item as JSON without its origin, which is in the row of its turn. */
  body: 'text',
} as const
export type ItemRow = RowOf<typeof ITEMS>
export const ITEM_COLUMNS = listColumns(ITEMS)

export interface ConversationRow {
  readonly id: string
  readonly tenant: string
  readonly user_id: string | null
  /** The labels that a client has set, as JSON. */
  readonly metadata: string
  readonly created_at: number
  /** Id of the last turn. */
  readonly head: string | null
  /** Id of the turn that has locked the conversation. */
  readonly busy_by: string | null
  /** The time at which the lock ends, in milliseconds. */
  readonly busy_until: number | null
  /** How long the lock lasts that ends at `busy_until`, in milliseconds. */
  readonly lease_ms: number | null
  /** The policy overrides of the conversation as JSON. */
  readonly context: string | null
  /** Id of the turn that was the head when the conversation was reset. */
  readonly reset_after: string | null
}

export interface ReplicaRow {
  readonly id: string
  readonly alive_until: number
  readonly lease_ms: number | null
}

/** Consecutive events of a background run, as the text that clients receive. */
const STREAM_EVENTS = {
  turn_id: 'text',
  first_number: 'number',
  last_number: 'number',
  tenant: 'text',
  text: 'text',
} as const
export type StreamEventRow = RowOf<typeof STREAM_EVENTS>
export const STREAM_EVENT_COLUMNS = listColumns(STREAM_EVENTS)

/**
 * A piece of a text that is too long for a row: of an item, the fields of a request, or a group of
 * events.
 */
const TEXT_PIECES = {
  turn_id: 'text',
  tenant: 'text',
  text_name: 'text',
  piece: 'number',
  body: 'text',
} as const
export type TextPieceRow = RowOf<typeof TEXT_PIECES>
export const TEXT_PIECE_COLUMNS = listColumns(TEXT_PIECES)

/**
 * A part of a request that was sent to an upstream, or a piece of a long part. Stored as the
 * difference to the same part of an earlier request, if there is one.
 */
const REQUESTS = {
  turn_id: 'text',
  tenant: 'text',
  round: 'number',
  /**
   * The part `copies` lists the strings that were left out of the body because the turn's items
   * contain them too.
   */
  part: 'request part',
  /** Number of the piece: counted for each part, over all tool rounds of the turn. */
  piece: 'number',
  base: 'text?',
  base_round: 'number',
  hops: 'number',
  prefix: 'number',
  suffix: 'number',
  body: 'text',
} as const
export type RequestRow = RowOf<typeof REQUESTS>
export const REQUEST_COLUMNS = listColumns(REQUESTS)

const SUMMARIES = {
  id: 'text',
  tenant: 'text',
  user_id: 'text?',
  thread: 'text?',
  conversation: 'text?',
  prefix_hash: 'text',
  turns: 'number',
  items: 'number',
  /** Encrypted JSON: the text of the summary and its facts. */
  body: 'text',
  tokens_before: 'number',
  tokens_after: 'number',
  model: 'text',
  prompt_version: 'number',
  made_from: 'text?',
  generation: 'number',
  created_at: 'number',
  used_at: 'number',
  short_lived: 'number',
} as const
export type SummaryRow = RowOf<typeof SUMMARIES>
export const SUMMARY_COLUMNS = listColumns(SUMMARIES)

/** One version of the content of a memory layer. */
const LAYER_VERSIONS = {
  id: 'text',
  tenant: 'text',
  user_id: 'text?',
  layer: 'text',
  thread: 'text?',
  number: 'number',
  round: 'number',
  /** Encrypted JSON: the content of the layer. */
  body: 'text',
  created_at: 'number',
  used_at: 'number',
  short_lived: 'number',
} as const
export type LayerRow = RowOf<typeof LAYER_VERSIONS>
export const LAYER_COLUMNS = listColumns(LAYER_VERSIONS)

const FACTS = {
  id: 'text',
  tenant: 'text',
  user_id: 'text?',
  scope: 'text',
  /** Encrypted JSON: text, area and source (conversation and items) of the fact. */
  body: 'text',
  importance: 'number',
  core: 'number',
  words: 'text',
  word_key: 'text',
  valid_until: 'number?',
  created_at: 'number',
  changed_at: 'number',
  used_at: 'number',
  use_count: 'number',
} as const
export type FactRow = RowOf<typeof FACTS>
export const FACT_COLUMNS = listColumns(FACTS)

const IDEMPOTENCY_KEYS = {
  id: 'text',
  tenant: 'text',
  user_id: 'text?',
  fingerprint: 'text',
  turn_id: 'text',
  owner: 'text?',
  created_at: 'number',
} as const
export type IdempotencyKeyRow = RowOf<typeof IDEMPOTENCY_KEYS>
export const IDEMPOTENCY_KEY_COLUMNS = listColumns(IDEMPOTENCY_KEYS)

/** The ids that a client gives to the chat and the message of an answer, which may be stored as a turn. */
const ANSWER_MESSAGES = {
  id: 'text',
  tenant: 'text',
  user_id: 'text?',
  chat: 'text',
  message: 'text',
  parent: 'text?',
  segment: 'number',
  continues: 'number',
  turn_id: 'text?',
  created_at: 'number',
  used_at: 'number',
  short_lived: 'number',
} as const
export type AnswerMessageRow = RowOf<typeof ANSWER_MESSAGES>
export const ANSWER_MESSAGE_COLUMNS = listColumns(ANSWER_MESSAGES)
