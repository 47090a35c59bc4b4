/** Who keeps an answer while it happens, as those see it who tell it to its client. */
import type { TokenUsage } from '../../core/stream-event.ts'
import type { Item, Origin } from '../../core/item.ts'
import type { Outcome } from '../../core/fold-answer-outcome.ts'
import type { NewTurn } from '../../store/turns/turn-store-interface.ts'

export interface Recorder {
  /** Resolves when the turn is durable; to `false` when it could not be kept. */
  readonly opened: Promise<boolean>
  readonly itemStarted: (item: Item) => void
  readonly itemEnded: (item: Item, index: number) => void
  /** Whether it holds what its client will forget, and all that it holds would survive a kill. */
  readonly canBeReferenced: () => boolean
  /** Resolves when the items are written or have failed, which may be never; null if none has to be. */
  readonly whenReferenceable: () => Promise<unknown> | null
  /** Whether something is being kept that was not promised: who asks next shall find it nevertheless. */
  readonly isStoring: () => boolean
  /**
   * Where the turn stands, once it is durable; `null` if it is not kept, and in place of the question
   * where nothing ever is.
   */
  readonly loadStoredParent: (() => Promise<Pick<NewTurn, 'parent'> | null>) | null
  /** Resolves to what may be told: an outcome that could not be kept is a failure. */
  readonly settle: (
    outcome: Outcome,
    ending: 'finished' | 'cancelled',
    made: AnswerProvenance,
  ) => Promise<Outcome>
}

/** How an answer came about. */
export interface AnswerProvenance {
  /** Who made it, which need not be whom the turn was opened for. Only of what is kept its prefix is named. */
  readonly origin: () => Origin
  /** By which it is found again from its client's words. Only of what is kept it is worth its hash. */
  readonly fingerprint: () => string | null
  /** The upstream that would not have the reasoning of before. */
  readonly reasoningRejectedBy: string | null
  /** As the upstream reported it, with what it had been taken for, if anybody asked that. */
  readonly usage?: TokenUsage
}

/** For an answer that nobody asked to keep. */
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
