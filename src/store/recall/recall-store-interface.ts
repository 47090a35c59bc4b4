/**
 * Interface of the store as a search for turns by markers, call ids and fingerprints, for clients
 * that do not name a turn. Searches are restricted to a tenant and user; turns of other owners do
 * not exist for them, not even by the time that a search takes.
 *
 * Also deletes turns: unused ones by expiry, and those of a thread or user on request.
 */
import type { RecordedTurn } from '../../core/items/recorded-turn.ts'

export interface RecallStore {
  /**
   * Returns all turns that a key matches, in any order, with a constant number of queries. Turns
   * that are queued, deleted or without an answer are left out, and so are hidden items.
   */
  readonly findTurns: (keys: RecallKeys) => Promise<FoundTurns>
  /** Updates the time of last use. */
  readonly touchTurns: (tenant: string, turnIds: readonly string[], nowMs: number) => Promise<void>
  /**
   * Deletes expired turns from one page, the latest first. Turns that a later turn, a conversation
   * or an active run needs are skipped. With a turn go those of its expired ancestors that no other
   * turn needs.
   */
  readonly expireTurns: (expiry: Expiry) => Promise<ExpiryResult>
  /**
   * Deletes all turns of a thread, running ones included. Conversations with such turns continue
   * empty. Resolves to the number of deleted turns.
   */
  readonly forgetThread: (thread: ThreadDeletion) => Promise<number>
  /** Deletes all data of a user. Resolves to the number of deleted turns. */
  readonly forgetUser: (tenant: string, user: string, nowMs: number) => Promise<number>
}

export interface FoundTurns {
  readonly turns: readonly RecordedTurn[]
  /** Ids of turns that were requested or found and that a limit excludes. */
  readonly beyond: ReadonlySet<string>
}

export const NO_TURNS_FOUND: FoundTurns = { turns: [], beyond: new Set() }

export interface RecallKeys {
  readonly tenant: string
  readonly user: string | null
  /**
   * The keys of each kind in the order of the chat. If there are more than `MAX_RECALL_KEYS`, only
   * the last are used.
   */
  readonly turnIds: readonly string[]
  /** Ids of calls that models made. Some providers reuse ids, so several turns may match. */
  readonly callIds: readonly string[]
  readonly fingerprints: readonly string[]
}

export const MAX_RECALL_KEYS = 2_000

/** Maximum number of turns found by one call id or one fingerprint: the latest. */
export const MAX_TURNS_PER_KEY = 8

/** Maximum number and size of all found turns. */
export const MAX_RECALLED_TURNS = 2_000
export const MAX_RECALLED_BYTES = 64_000_000

/** Bytes that an item counts in addition to its text, so that 64 MB hold at most 20,000 items. */
export const ITEM_OVERHEAD_BYTES = 3_200

/**
 * Turns beyond a limit are excluded in steps of a quarter of the limit. If each new turn excluded
 * an old one, every prompt of the chat would begin differently, and no provider could reuse its
 * cache.
 */
export const BOUND_STEPS = 4

export interface Expiry {
  /** All turns, or only those of temporary chats. */
  readonly of: 'all' | 'temporary'
  readonly unusedSinceMs: number
  readonly nowMs: number
  /** Start of the page; `null` for the first page. */
  readonly after: ExpiryCursor | null
  /** Maximum number of turns that are checked, and deleted. */
  readonly limit: number
}

export interface ExpiryCursor {
  readonly usedAtMs: number
  readonly turnId: string
}

export interface ExpiryResult {
  readonly removed: number
  /** Start of the next page, or `null` after the last. */
  readonly next: ExpiryCursor | null
}

export interface ThreadDeletion {
  readonly tenant: string
  /** Only data of this user; `null` for all users of the tenant. */
  readonly user: string | null
  /** Any turn of the thread. */
  readonly turnId: string
  /**
   * Time of the deletion. Data derived from the thread by jobs that began earlier is not stored
   * either.
   */
  readonly nowMs: number
}
