/**
 * Defines the recorder, which stores an answer as a turn while the answer is streamed. A requested turn is one that the
 * client asks to store; an unrequested turn is stored for items that the client will not send back.
 */
import type { TokenUsage } from '../../core/stream-event.ts'
import type { Item, Origin } from '../../core/item.ts'
import type { Outcome } from '../../core/collect-answer-outcome.ts'
import type { NewTurn } from '../../store/turns/turn-store-interface.ts'

export interface Recorder {
  /**
   * Resolves to true when a requested turn is open; to false if that fails or takes too long, or if no turn is
   * requested.
   */
  readonly whenOpened: Promise<boolean>
  /** Returns the error that prevented the turn from being opened; null if there is none. Missing if no turn is stored. */
  readonly getOpeningError?: () => unknown
  readonly itemStarted: (item: Item) => void
  readonly itemEnded: (item: Item, index: number) => void
  readonly itemAmended: (item: Item, index: number) => void
  /**
   * True if a marker in the answer may name the turn: the turn has items worth storing, and all of these are
   * written to the database.
   */
  readonly canBeNamedByMarker: () => boolean
  /**
   * Resolves to true when all items so far are written, so that a marker after them may name the turn; to false if
   * their write has failed; never if the database hangs. Returns null if there is nothing to wait for: no item is worth
   * storing, or all of these are written.
   */
  readonly whenNameableByMarker: () => Promise<boolean> | null
  /** True if an unrequested turn has been opened for this answer. */
  readonly isStoringUnrequestedTurn: () => boolean
  /**
   * Resolves to the turn's parent when the turn is in the database; to null if it is not stored. The property is
   * null if this recorder stores no turns.
   */
  readonly loadStoredParent: (() => Promise<Pick<NewTurn, 'parent'> | null>) | null
  /**
   * Ends the turn. Resolves to the outcome for the client: a failure if an opened turn could not be closed, and the
   * request has `store: true` or names a conversation.
   */
  readonly settle: (
    outcome: Outcome,
    ending: 'finished' | 'cancelled',
    metadata: AnswerMetadata,
  ) => Promise<Outcome>
}

/**
 * The values that a turn stores besides its items. Two are functions, because hashing takes time and unstored turns
 * need no hash.
 */
export interface AnswerMetadata {
  /** Returns the upstream that made the answer; after a fallback, not the first that was tried. */
  readonly origin: () => Origin
  /** Returns the fingerprint that finds the turn by its text in a later chat; null if the client names turns by ids. */
  readonly fingerprint: () => string | null
  /** The account that rejected the reasoning of earlier turns in this request; null if none did. */
  readonly reasoningRejectedBy: string | null
  /** The reported usage, plus the gateway's estimate (`estimatedInputTokens`); undefined if there is no such estimate. */
  readonly usage?: TokenUsage
}

/** The recorder of an answer that is not stored. */
export const NOT_RECORDED: Recorder = {
  whenOpened: Promise.resolve(false),
  itemStarted: () => undefined,
  itemEnded: () => undefined,
  itemAmended: () => undefined,
  canBeNamedByMarker: () => false,
  whenNameableByMarker: () => null,
  isStoringUnrequestedTurn: () => false,
  loadStoredParent: null,
  settle: (outcome) => Promise.resolve(outcome),
}
