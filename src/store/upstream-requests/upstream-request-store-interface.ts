/**
 * What was sent to an upstream for each turn, round by round, kept so that it can be looked at afterwards
 * and compared with what is sent next. A request is told from the one before it, which for the first of a
 * turn is the last of the turn before, so that a conversation takes as much room as what is new in it.
 * It belongs to its turn and goes with it.
 */
import type { Caller } from '../../core/client/caller.ts'

export interface UpstreamRequestStore {
  /**
   * Keeps it for a turn that is stored. Once only: a turn that has one keeps it. `tell` is asked for
   * what there is to keep, `null` for nothing. It is refused while too many are on their way. Whoever wants it meanwhile, in this process, waits for
   * it.
   */
  readonly keepRequest: (
    owner: Caller,
    turnId: string,
    tell: () => Promise<NewRequestRecord | null>,
  ) => Promise<void>
  /**
   * That of a round, or of the last one. `null` if there is none, if it is somebody else's, or if it
   * cannot be read any more.
   */
  readonly loadRequest: (
    owner: Caller,
    turnId: string,
    round?: number,
  ) => Promise<RoundRequest | null>
  /** Resolves when nothing is left to be written, before the database is closed. */
  readonly allKept: () => Promise<void>
}

export interface SentRequest {
  /** The body, character by character. */
  readonly body: string
  /** What became of each item of the conversation. It grows with it. Empty where the body says it. */
  readonly items: string
  /** All that is as long for a long conversation as for a short one. */
  readonly about: string
}

/** A request among those that were sent for a turn. */
export interface RoundRequest extends SentRequest {
  /** Counted from 0. */
  readonly round: number
  /** How many there are. */
  readonly rounds: number
}

export interface NewRequestRecord {
  /** In the order in which they were sent; not empty. */
  readonly rounds: readonly SentRequest[]
  /** The turn from whose last request the first is told, if that one has any. */
  readonly base: string | null
}
