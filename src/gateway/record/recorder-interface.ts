/** Defines the recorder, which stores an answer while it is streamed to the client. */
import type { TokenUsage } from '../../core/stream-event.ts'
import type { Item, Origin } from '../../core/item.ts'
import type { Outcome } from '../../core/collect-answer-outcome.ts'
import type { NewTurn } from '../../store/turns/turn-store-interface.ts'

export interface Recorder {
  /** Resolves to true when a requested turn is durable; to false if it could not be stored or was not requested. */
  readonly whenOpened: Promise<boolean>
  readonly itemStarted: (item: Item) => void
  readonly itemEnded: (item: Item, index: number) => void
  /**
   * True if a marker in the answer may name the turn: the turn has items that the client cannot send back, and
   * all of these are durable.
   */
  readonly canBeNamedByMarker: () => boolean
  /**
   * Resolves when all items so far are written or have failed (never if the database hangs). Returns null if no
   * item is waiting to be written.
   */
  readonly whenNameableByMarker: () => Promise<unknown> | null
  /** True if the turn is stored although the client did not ask for it. */
  readonly isStoringUnrequestedTurn: () => boolean
  /**
   * Resolves to the turn's parent when the turn is durable; to null if it was not stored. The property is null
   * if this recorder never stores a turn.
   */
  readonly loadStoredParent: (() => Promise<Pick<NewTurn, 'parent'> | null>) | null
  /** Ends the turn. Resolves to the outcome for the client: a failure if a requested turn could not be stored. */
  readonly settle: (
    outcome: Outcome,
    ending: 'finished' | 'cancelled',
    provenance: AnswerProvenance,
  ) => Promise<Outcome>
}

/** The values that are stored with an answer besides its items. Two are functions, because hashing is expensive. */
export interface AnswerProvenance {
  /** Returns the upstream that made the answer, which after a fallback is not the first that was tried. */
  readonly origin: () => Origin
  /** Returns the fingerprint that finds the turn by the text that the client sends back; null if none is needed. */
  readonly fingerprint: () => string | null
  /** The account that rejected the reasoning of earlier turns; null if none did. */
  readonly reasoningRejectedBy: string | null
  /** The reported usage with the gateway's estimate; undefined if there is no estimate. */
  readonly usage?: TokenUsage
}

/** The recorder of an answer that is not stored. */
export const NOT_RECORDED: Recorder = {
  whenOpened: Promise.resolve(false),
  itemStarted: () => undefined,
  itemEnded: () => undefined,
  canBeNamedByMarker: () => false,
  whenNameableByMarker: () => null,
  isStoringUnrequestedTurn: () => false,
  loadStoredParent: null,
  settle: (outcome) => Promise.resolve(outcome),
}
