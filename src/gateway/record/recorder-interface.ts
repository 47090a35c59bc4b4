/** Defines the recorder of an answer, as the code that streams the answer to the client uses it. */
import type { TokenUsage } from '../../core/stream-event.ts'
import type { Item, Origin } from '../../core/item.ts'
import type { Outcome } from '../../core/fold-answer-outcome.ts'
import type { NewTurn } from '../../store/turns/turn-store-interface.ts'

export interface Recorder {
  /** Resolves to true once the turn is durable, to false if it cannot or need not be stored. */
  readonly opened: Promise<boolean>
  readonly itemStarted: (item: Item) => void
  readonly itemEnded: (item: Item, index: number) => void
  /**
   * True once a marker may name the turn: it holds an item that the client cannot send back, and all such
   * items are durable.
   */
  readonly canBeReferenced: () => boolean
  /**
   * Resolves when all items so far are written or have failed (never, if the database hangs); null if no
   * item has to be written.
   */
  readonly whenReferenceable: () => Promise<unknown> | null
  /** True if a turn is written that the client did not ask for; its next request must find the turn. */
  readonly isStoring: () => boolean
  /**
   * Resolves to the turn with its parent once it is durable, or to null if it was not stored. The property
   * is null if this recorder never stores.
   */
  readonly loadStoredParent: (() => Promise<Pick<NewTurn, 'parent'> | null>) | null
  /** Resolves to the outcome for the client: a failure if a requested turn could not be stored. */
  readonly settle: (
    outcome: Outcome,
    ending: 'finished' | 'cancelled',
    provenance: AnswerProvenance,
  ) => Promise<Outcome>
}

/** The values that are stored with an answer besides its items. The functions hash only when called. */
export interface AnswerProvenance {
  /** The upstream that made the answer; after a fallback not the one that the turn was opened with. */
  readonly origin: () => Origin
  /** The fingerprint that finds the turn by the text that the client sends back; null if none is needed. */
  readonly fingerprint: () => string | null
  /** The account that rejected the reasoning of earlier turns. */
  readonly reasoningRejectedBy: string | null
  /** The reported usage with the gateway's estimate; undefined if the request was not estimated. */
  readonly usage?: TokenUsage
}

/** The recorder of an answer that is not stored. */
export const NOT_RECORDED: Recorder = {
  opened: Promise.resolve(false),
  itemStarted: () => undefined,
  itemEnded: () => undefined,
  canBeReferenced: () => false,
  whenReferenceable: () => null,
  isStoring: () => false,
  loadStoredParent: null,
  settle: (outcome) => Promise.resolve(outcome),
}
