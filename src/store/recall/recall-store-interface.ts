/**
 * Interface of the store that finds the turns of a chat by markers, call ids and fingerprints, for
 * clients that do not name a turn. A search finds only turns of its tenant and user. Turns of
 * others do not even change how long a search takes.
 */
import type { RecordedTurn } from '../../core/items/recorded-turn.ts'
import type { ClaimMemory } from '../../core/ports/claim-memory.ts'

export interface RecallStore {
  /**
   * Returns the turns that a key matches, up to the limits below, in any order and with a constant
   * number of queries. For large turns, `claimMemory` is called before their items are read, in several
   * queries. If a returned turn has no new input, also returns its parent. Leaves out hidden items, and turns that are queued, deleted or without an answer.
   */
  readonly findTurns: (keys: RecallKeys, claimMemory?: ClaimMemory) => Promise<FoundTurns>
  /** Sets the turns' time of last use, on which expiry depends. */
  readonly touchTurns: (tenant: string, turnIds: readonly string[], nowMs: number) => Promise<void>
}

export interface FoundTurns {
  readonly turns: readonly RecordedTurn[]
  /**
   * Ids of turns that are left out because of a limit: turns that were found, and ids from markers
   * that were not searched.
   */
  readonly excludedTurnIds: ReadonlySet<string>
}

export const NO_TURNS_FOUND: FoundTurns = { turns: [], excludedTurnIds: new Set() }

export interface RecallKeys {
  readonly tenant: string
  readonly user: string | null
  /**
   * Ids of turns from markers. These and the other keys are in the order of the chat; of more than
   * `MAX_RECALL_KEYS` keys of one kind, only the last are used.
   */
  readonly turnIds: readonly string[]
  /** Ids of calls that models made. Some providers reuse ids, so several turns may match. */
  readonly callIds: readonly string[]
  readonly fingerprints: readonly string[]
}

export const MAX_RECALL_KEYS = 2_000

/** Maximum number of turns that one call id or one fingerprint finds; the latest are found. */
export const MAX_TURNS_PER_KEY = 8

/** Maximum number and total size of the turns that one search returns. */
export const MAX_RECALLED_TURNS = 2_000
export const MAX_RECALLED_BYTES = 64_000_000

/**
 * Bytes that an item counts in addition to its text, so that a search returns at most 20,000 items:
 * 64,000,000 / 3,200.
 */
export const ITEM_OVERHEAD_BYTES = 3_200

/**
 * Number of steps in a limit: old turns are excluded in steps of a quarter of a limit, e.g. 500
 * turns at once. If each new turn excluded one old turn, every prompt of the chat would begin
 * differently, and no provider could reuse its prompt cache.
 */
export const STEPS_PER_LIMIT = 4
