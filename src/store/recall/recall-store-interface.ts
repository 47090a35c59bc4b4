/**
 * The memory as it is searched for a client that names no turn: by markers, by the ids of tool calls
 * and by fingerprints. Always within a tenant, and within a user where there is one; what belongs to
 * somebody else is not there, and takes no longer to be not there.
 *
 * Also how memory ends: what nobody needs goes by itself, and what somebody wants forgotten at once.
 */
import type { RecordedTurn } from '../../core/items/recorded-turn.ts'

export interface RecallStore {
  /**
   * Every turn that one of the keys names, in any order, in a constant number of queries. Turns that
   * are queued, deleted, or were left without an answer are not among them, nor are hidden items.
   */
  readonly findTurns: (keys: RecallKeys) => Promise<FoundTurns>
  /** Notes that they are needed still. */
  readonly touchTurns: (tenant: string, turnIds: readonly string[], nowMs: number) => Promise<void>
  /**
   * Looks at a page of the turns that nobody has needed for long, from the newest to the oldest, and
   * removes those that nothing stands on: no later turn, no conversation, no run that somebody works
   * on. Then those that they alone stood on, if it is time for them too.
   */
  readonly expireTurns: (expiry: Expiry) => Promise<ExpiryResult>
  /**
   * Removes every turn of the thread that the turn belongs to, running ones too; conversations that
   * went on from them are empty then. Resolves to how many.
   */
  readonly forgetThread: (thread: ThreadDeletion) => Promise<number>
  /** Removes everything of a user: turns, conversations, events. Resolves to how many turns. */
  readonly forgetUser: (tenant: string, user: string, nowMs: number) => Promise<number>
}

export interface FoundTurns {
  readonly turns: readonly RecordedTurn[]
  /** The turns that were named, or found, and are not among them because they are beyond a bound. */
  readonly beyond: ReadonlySet<string>
}

export const NO_TURNS_FOUND: FoundTurns = { turns: [], beyond: new Set() }

export interface RecallKeys {
  readonly tenant: string
  readonly user: string | null
  /** Of each kind of key the last count, up to `MAX_RECALL_KEYS`: a client's newest words are its last. */
  readonly turnIds: readonly string[]
  /** Of calls that a model made; ids repeat with some providers, so that several turns may match. */
  readonly callIds: readonly string[]
  readonly fingerprints: readonly string[]
}

export const MAX_RECALL_KEYS = 2_000

/** Of the turns that one call id or one fingerprint names, so many are found: the newest. */
export const MAX_NAMESAKES = 8

/** Of all that are named, the newest are found, each of them whole. */
export const MAX_RECALLED_TURNS = 2_000
export const MAX_RECALLED_BYTES = 64_000_000

/** What an item counts beside its text, so that there are at most 20,000. */
export const ITEM_OVERHEAD_BYTES = 3_200

/**
 * What is beyond a bound goes a quarter of the bound at a time: did it go turn by turn, the prompt of
 * such a chat would begin differently each time, and no provider would find it in its cache.
 */
export const BOUND_STEPS = 4

export interface Expiry {
  /** Of all turns, or only of those of chats that are not meant to last. */
  readonly of: 'all' | 'temporary'
  readonly unusedSinceMs: number
  readonly nowMs: number
  /** Behind which the page begins; `null` for the first. */
  readonly after: ExpiryCursor | null
  /** How many are looked at, and at most removed. */
  readonly limit: number
}

export interface ExpiryCursor {
  readonly usedAtMs: number
  readonly turnId: string
}

export interface ExpiryResult {
  readonly removed: number
  /** Where the next page begins, if there is one. */
  readonly next: ExpiryCursor | null
}

export interface ThreadDeletion {
  readonly tenant: string
  /** Only what belongs to this user; `null` for whatever belongs to the tenant. */
  readonly user: string | null
  /** Any of its turns. */
  readonly turnId: string
  /** What was begun until then is not kept any more, either. */
  readonly nowMs: number
}
