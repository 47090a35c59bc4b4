/**
 * Interface of the store of turns, as request handling uses it: few methods, bulk reads, and writes
 * that succeed completely or not at all. Repeating a call has no further effect.
 */
import type { Failure, AnswerFinishReason, TokenUsage } from '../../core/stream-event.ts'
import type { Item, Origin } from '../../core/item.ts'
import type { JsonObject } from '../../core/json/json.ts'
import type { Caller } from '../../core/client/caller.ts'
import type { ClaimMemory } from '../../core/ports/claim-memory.ts'
import type { NewAnswerMessage } from '../../core/client/answer-message-ids.ts'
import type { UndecryptableRule } from '../encryption/decrypt-rows.ts'

export interface TurnStore {
  /**
   * Creates a turn with its input items. When the promise resolves, turn and items survive the
   * death of this process. They survive a power cut only after the turn is closed.
   */
  readonly openTurn: (turn: NewTurn) => Promise<void>
  /**
   * Adds finished output items to an open turn. Skips positions that already have an item. Writes
   * nothing if the turn is deleted.
   */
  readonly journalItems: (turn: TurnKey, items: readonly PlacedItem[]) => Promise<void>
  /**
   * True if the store collects items in memory instead of writing them. The recorder then passes
   * each item as soon as it is finished.
   */
  readonly collectsItems?: boolean
  /**
   * On Workers, where no process outlives a request: the lease of an open turn, which `openTurn`
   * starts and `closeTurn` ends. Without renewal it expires, and the turn can be ended by others.
   */
  readonly turnLease?: TurnLease | undefined
  /**
   * Adds the remaining output items and ends the turn, in one transaction. Resolves to true if this
   * call ended the turn, and to false if the turn had ended before or was deleted.
   */
  readonly closeTurn: (ending: TurnEnding) => Promise<boolean>
  /**
   * Returns a turn of the owner with its ancestors, oldest first, in a constant number of queries
   * unless the chain is large. Resolves to `null` if the owner has no such turn. Throws a GatewayError
   * if the chain is larger than any model's context window.
   */
  readonly loadChain: (
    owner: Caller,
    turnId: string,
    options?: ChainOptions,
  ) => Promise<readonly StoredTurn[] | null>
  /** Resolves if the database responds. */
  readonly ping: () => Promise<void>
  readonly close: () => Promise<void>
}

export interface TurnLease {
  /** Interval at which the lease must be renewed. */
  readonly renewMs: number
  readonly renew: (turnId: string) => Promise<void>
}

export interface ChainOptions {
  /** Called before the items of a large chain are loaded. */
  readonly claimMemory?: ClaimMemory
  /** By default, loading fails if a text cannot be decrypted. */
  readonly undecryptable?: UndecryptableRule
}

/** `queued` and `open` turns are unfinished. The other states are final. */
export type TurnState = 'queued' | 'open' | 'complete' | 'incomplete' | 'cancelled' | 'failed'

export interface NewTurn {
  readonly id: string
  readonly tenant: string
  readonly user: string | null
  /** Id of the first turn of the chain, the same for all turns of the chain. */
  readonly thread: string
  readonly parent: string | null
  /** Number of ancestors. */
  readonly depth: number
  /** The conversation that the turn is added to if it succeeds. */
  readonly conversation: string | null
  /** True if the turn continues when its client disconnects. */
  readonly background: boolean
  /** Id of the replica that runs the turn; null if none does. */
  readonly replicaId: string | null
  readonly dialect: string
  readonly origin: Origin
  readonly createdAtMs: number
  /** True if the turn expires two days after its last use, regardless of `RETENTION_DAYS`. */
  readonly isTemporary?: boolean
  /**
   * The fields of the request other than its items: a client that reads the response gets them
   * back. A field that has a digest but is missing here has the same value as in the parent.
   */
  readonly request: JsonObject
  /** Digests of the larger request fields, by name. */
  readonly digests?: FieldDigests
  /** Labels that a client sets and can replace, e.g. to filter lists by. */
  readonly metadata?: JsonObject | null
  /** The new items only, without those of the parent's chain. */
  readonly input: readonly Item[]
  /** The client's ids of the answer's message, if it sends some. */
  readonly answerMessage?: NewAnswerMessage | null
}

export type TurnKey = Pick<NewTurn, 'id' | 'tenant' | 'user'>

export type FieldDigests = Readonly<Record<string, string>>

/** An output item and its position in the answer. */
export interface PlacedItem {
  /** Counted from 0. */
  readonly position: number
  readonly item: Item
}

export interface TurnEnding {
  readonly turnId: string
  readonly tenant: string
  readonly user: string | null
  readonly state: Exclude<TurnState, 'queued' | 'open'>
  readonly endedAtMs: number
  readonly usage: TokenUsage | null
  readonly failure: Failure | null
  readonly finish?: AnswerFinishReason | null
  /** The name of the model according to the upstream. */
  readonly servedModel?: string | null
  /** Hash of all items of the chain up to and including this answer. */
  readonly contentHash?: string | null
  /** Hash that finds the turn by the text of a client's chat. */
  readonly fingerprint?: string | null
  /** The account whose upstream rejected the reasoning of earlier turns. */
  readonly reasoningRefusedBy?: string | null
  /**
   * True if the turn has locked its conversation. Closing the turn releases the lock, and makes a
   * successful turn the head.
   */
  readonly hasConversationLock?: boolean
  /** The upstream that answered, which may differ from the one that the turn was opened for. */
  readonly origin: Origin
  /** The output items. Items that are already stored are skipped. */
  readonly items: readonly PlacedItem[]
  /**
   * Output items that replace stored ones at the same position. They have the same type, id and
   * call id.
   */
  readonly amendedItems?: readonly PlacedItem[]
}

export interface StoredTurn extends Omit<
  NewTurn,
  'answerMessage' | 'input' | 'digests' | 'metadata'
> {
  readonly digests: FieldDigests
  readonly metadata: JsonObject | null
  readonly deletedAtMs: number | null
  readonly state: TurnState
  readonly endedAtMs: number | null
  readonly usage: TokenUsage | null
  readonly failure: Failure | null
  readonly finish: AnswerFinishReason | null
  readonly servedModel: string | null
  readonly contentHash: string | null
  readonly reasoningRefusedBy: string | null
  /** Time of last use, accurate to a day. */
  readonly usedAtMs: number
  readonly input: readonly Item[]
  readonly output: readonly Item[]
  /** The items that a client removed from the conversation. */
  readonly hidden: ReadonlySet<Item>
  /** Number of items that cannot be decrypted or parsed; missing if there are none. */
  readonly unreadable?: number
}
