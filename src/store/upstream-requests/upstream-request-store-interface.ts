/**
 * Interface of the store of requests that were sent to upstreams, by turn and tool round, so that
 * `explain` can show them later and compare consecutive ones. A request is stored as the difference
 * to the previous one, so a conversation takes only the space of its new text. Before the first
 * request of a turn comes the last one of its parent turn. Requests are deleted with their turn.
 */
import type { Caller } from '../../core/client/caller.ts'
import type { ClaimMemory } from '../../core/ports/claim-memory.ts'
import type { UndecryptableRule } from '../encryption/decrypt-rows.ts'

export interface UpstreamRequestStore {
  /**
   * Stores the requests of a stored turn, unless it has stored requests already. Calls `collect` to
   * get the requests; `null` means that there are none. Rejects if too many writes are pending.
   * `loadRequest` in the same process waits until the requests of its turn are stored.
   */
  readonly saveRequests: (
    owner: Caller,
    turnId: string,
    collect: () => Promise<NewRequestRecord | null>,
  ) => Promise<void>
  /**
   * Returns the request of a tool round, by default of the last. Resolves to `null` if there is
   * none, if it belongs to another owner or, by default, if it cannot be decrypted. `claimMemory` is called
   * before the request is decoded, unless it is cached.
   */
  readonly loadRequest: (
    owner: Caller,
    turnId: string,
    round?: number,
    rule?: UndecryptableRule,
    claimMemory?: ClaimMemory,
  ) => Promise<ToolRoundRequest | null>
  /** Resolves when no write is pending. Called before the database is closed. */
  readonly waitForPendingWrites: () => Promise<void>
}

export interface SentRequest {
  /** The body exactly as it was sent. */
  readonly body: string
  /**
   * The changes to each item of the conversation, as JSON that grows with the conversation. Empty
   * if the body shows the changes.
   */
  readonly items: string
  /** Other details as JSON. Their size does not grow with the conversation. */
  readonly about: string
}

/**
 * A request that was sent for a turn. Each tool round of the answer sends one; an answer without
 * gateway tools has one round.
 */
export interface ToolRoundRequest extends SentRequest {
  /** Number of the tool round, counted from 0. */
  readonly round: number
  /** Number of tool rounds of the turn. */
  readonly roundCount: number
}

export interface NewRequestRecord {
  /** The requests of all tool rounds in the order in which they were sent; not empty. */
  readonly requests: readonly SentRequest[]
  /**
   * Id of the turn whose last request the first one is compared with; `null` if that request is not
   * stored.
   */
  readonly baseTurnId: string | null
}
