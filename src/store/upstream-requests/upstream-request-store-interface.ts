/**
 * Interface of the store of requests that were sent to upstreams, by turn and round, so that
 * `explain` can show them later and compare consecutive ones. A request is stored as the difference
 * to the previous one (the first of a turn to the last of the parent turn), so a conversation takes
 * only the space of its new text. Requests are deleted with their turn.
 */
import type { Caller } from '../../core/client/caller.ts'

export interface UpstreamRequestStore {
  /**
   * Stores the requests of a stored turn, unless it has stored requests already. Calls `collect`
   * for the requests; `null` means that there are none. Rejects if too many writes are pending.
   * Reads in the same process wait for the pending write of their turn.
   */
  readonly saveRequests: (
    owner: Caller,
    turnId: string,
    collect: () => Promise<NewRequestRecord | null>,
  ) => Promise<void>
  /**
   * Returns the request of a round, by default of the last. Resolves to `null` if there is none, if
   * it belongs to another owner, or if it cannot be decrypted.
   */
  readonly loadRequest: (
    owner: Caller,
    turnId: string,
    round?: number,
  ) => Promise<RoundRequest | null>
  /** Resolves when no write is pending. Called before the database is closed. */
  readonly waitForPendingWrites: () => Promise<void>
}

export interface SentRequest {
  /** The body exactly as it was sent. */
  readonly body: string
  /**
   * The changes to each item of the conversation as JSON, which grow with the conversation. Empty
   * if the body shows the changes.
   */
  readonly items: string
  /** Other details as JSON, whose size does not grow with the conversation. */
  readonly about: string
}

/** One of the requests that were sent for a turn. */
export interface RoundRequest extends SentRequest {
  /** Counted from 0. */
  readonly round: number
  /** Number of rounds of the turn. */
  readonly roundCount: number
}

export interface NewRequestRecord {
  /** The requests of all rounds in the order in which they were sent; not empty. */
  readonly rounds: readonly SentRequest[]
  /**
   * Id of the turn whose last request the first one is compared with; `null` if that request is not
   * stored.
   */
  readonly baseTurnId: string | null
}
