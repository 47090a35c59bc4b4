/**
 * Interface of the store of requests that were sent to upstreams, for each turn and round, so that
 * they can be explained later and compared with the next one. A request is stored as the difference
 * to the one before it (for the first of a turn, the last of the parent turn), so a conversation
 * takes as much space as its new text. Requests are deleted with their turn.
 */
import type { Caller } from '../../core/client/caller.ts'

export interface UpstreamRequestStore {
  /**
   * Stores the requests of a stored turn; if it has some already, those stay. Calls `collect` for the
   * requests; `null` means that there are none. Rejects while too many writes are pending.
   * Reads of the same process wait for a pending write.
   */
  readonly keepRequest: (
    owner: Caller,
    turnId: string,
    collect: () => Promise<NewRequestRecord | null>,
  ) => Promise<void>
  /**
   * Returns the request of a round, by default the last. `null` if there is none, if it belongs to
   * another owner, or if it cannot be decrypted.
   */
  readonly loadRequest: (
    owner: Caller,
    turnId: string,
    round?: number,
  ) => Promise<RoundRequest | null>
  /** Resolves when no write is pending. Called before the database is closed. */
  readonly allKept: () => Promise<void>
}

export interface SentRequest {
  /** The body exactly as it was sent. */
  readonly body: string
  /**
   * JSON of the changes to each item of the conversation; grows with it. Empty if the body shows
   * the changes.
   */
  readonly items: string
  /** Other details, whose size does not grow with the conversation. */
  readonly about: string
}

/** One of the requests that were sent for a turn. */
export interface RoundRequest extends SentRequest {
  /** Counted from 0. */
  readonly round: number
  /** Number of rounds of the turn. */
  readonly rounds: number
}

export interface NewRequestRecord {
  /** In the order in which they were sent; not empty. */
  readonly rounds: readonly SentRequest[]
  /** The turn whose last request the first one is compared with, if that is stored. */
  readonly base: string | null
}
