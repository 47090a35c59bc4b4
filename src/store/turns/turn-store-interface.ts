/**
 * The memory of the gateway as the rest of the house sees it: a few verbs, bulk reads, and writes
 * that are all or nothing. Every verb may be repeated: saving twice is saving once.
 */
import type { Failure, AnswerFinishReason, TokenUsage } from '../../core/stream-event.ts'
import type { Item, Origin } from '../../core/item.ts'
import type { JsonObject } from '../../core/json/json.ts'
import type { Caller } from '../../core/client/caller.ts'

export interface TurnStore {
  /**
   * Creates a turn with its input items. When the promise resolves, both survive the death of this
   * process; a power cut as well only when the turn is closed.
   */
  readonly openTurn: (turn: NewTurn) => Promise<void>
  /**
   * Adds finished output items to an open turn. A position that exists is left as it is, and of a
   * turn that is gone nothing comes back.
   */
  readonly journalItems: (
    turnId: string,
    tenant: string,
    items: readonly PlacedItem[],
  ) => Promise<void>
  /** Whether it gathers items by itself, and wants each as soon as it is finished. */
  readonly gathersItems?: boolean
  /**
   * Adds the remaining output items and ends the turn, at once. A turn that has ended stays as it
   * is, and one that is gone does not come back; whether it was this that ended it is what the
   * promise resolves to.
   */
  readonly closeTurn: (ending: TurnEnding) => Promise<boolean>
  /**
   * A turn of this owner with its ancestors, oldest first, in a constant number of queries.
   * `null` if there is no such turn; somebody else's is no such turn.
   */
  readonly loadChain: (owner: Caller, turnId: string) => Promise<readonly StoredTurn[] | null>
  /** Answers if the database does. */
  readonly ping: () => Promise<void>
  readonly close: () => Promise<void>
}

/** `queued` and `open` are on their way; of the others none changes into another. */
export type TurnState = 'queued' | 'open' | 'complete' | 'incomplete' | 'cancelled' | 'failed'

export interface NewTurn {
  readonly id: string
  readonly tenant: string
  readonly user: string | null
  /** The turns of one conversation share a thread: the id of its first turn. */
  readonly thread: string
  readonly parent: string | null
  /** How many ancestors it has. */
  readonly depth: number
  /** The conversation that it adds to, if it succeeds. */
  readonly conversation: string | null
  /** Whether it goes on without its client. */
  readonly background: boolean
  /** The replica that runs it. */
  readonly owner: string | null
  readonly dialect: string
  readonly origin: Origin
  readonly createdAtMs: number
  /** Whether it goes two days after it was last needed, whatever else is kept for how long. */
  readonly isTemporary?: boolean
  /**
   * What the request asked for beside its items, to show when the answer is read again. A field that
   * has a digest and is missing here is the same as the parent's.
   */
  readonly request: JsonObject
  /** Digests of the larger fields of the request, by name. */
  readonly digests?: FieldDigests
  /** Labels by which it is listed, and which its client may replace. */
  readonly metadata?: JsonObject | null
  /** Only what is new: what the parent's chain holds already is not among them. */
  readonly input: readonly Item[]
}

export type FieldDigests = Readonly<Record<string, string>>

/** `position` counts the output items of an answer from 0. */
export interface PlacedItem {
  readonly position: number
  readonly item: Item
}

export interface TurnEnding {
  readonly turnId: string
  readonly tenant: string
  readonly state: Exclude<TurnState, 'queued' | 'open'>
  readonly endedAtMs: number
  readonly usage: TokenUsage | null
  readonly failure: Failure | null
  readonly finish?: AnswerFinishReason | null
  /** As the upstream calls the model that answered. */
  readonly servedModel?: string | null
  /** The hash of everything said up to here, the answer included. */
  readonly contentHash?: string | null
  /** By which the turn is found again from a client's own words. */
  readonly fingerprint?: string | null
  /** The upstream that refused the reasoning of the turns before. */
  readonly reasoningRefusedBy?: string | null
  /** Then its conversation is let go, and goes on from the turn if that succeeded. */
  readonly holdsConversation?: boolean
  /** Who made it in the end, which need not be whom the turn was opened for. */
  readonly origin: Origin
  /** Output items that were not journaled yet; those that were may be among them. */
  readonly items: readonly PlacedItem[]
}

export interface StoredTurn extends Omit<NewTurn, 'input' | 'digests' | 'metadata'> {
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
  /** When it was last needed, give or take a day. */
  readonly usedAtMs: number
  readonly input: readonly Item[]
  readonly output: readonly Item[]
  /** Those of its items that were taken out of their conversation. */
  readonly hidden: ReadonlySet<Item>
  /** How many of its items nobody can read, if there are any. */
  readonly unreadable?: number
}
