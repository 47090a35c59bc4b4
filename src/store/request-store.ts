/**
 * What was sent to an upstream for each turn, kept so that it can be looked at afterwards and compared
 * with what is sent next. A request is told from that of the turn before, so that a conversation takes
 * as much room as what is new in it. It belongs to its turn and goes with it.
 */
import type { Owner } from './owner.ts'

export interface RequestStore {
  /**
   * Keeps it for a turn that is stored. Once only: a turn that has one keeps it. `tell` is asked for
   * what there is to keep, `null` for nothing. It is refused while too many are on their way. Whoever wants it meanwhile, in this process, waits for
   * it.
   */
  readonly keepRequest: (
    owner: Owner,
    turnId: string,
    tell: () => Promise<KeptRequest | null>,
  ) => Promise<void>
  /** `null` if there is none, if it is somebody else's, or if it cannot be read any more. */
  readonly loadRequest: (owner: Owner, turnId: string) => Promise<SentRequest | null>
  /** Resolves when nothing is left to be written, before the database is closed. */
  readonly allKept: () => Promise<void>
}

export interface SentRequest {
  /** The body, character by character. */
  readonly body: string
  /** What became of each item of the conversation. It grows with it. */
  readonly items: string
  /** All that is as long for a long conversation as for a short one. */
  readonly about: string
}

export interface KeptRequest {
  readonly sent: SentRequest
  /** The turn from whose request it is told, if that one has any. */
  readonly base: string | null
}
