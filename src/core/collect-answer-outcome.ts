/** Collects the events of an answer into its outcome. The outcome is stored, and non-streamed answers are rendered from it. */
import type { Failure, AnswerFinishReason, StreamEvent, TokenUsage } from './stream-event.ts'
import type { Item } from './item.ts'
import { truncateFailureForStream } from './text/truncate-failure-for-stream.ts'

export interface Outcome {
  /** Finished items in order. Omits an item whose end is missing because the stream broke off. */
  readonly items: readonly Item[]
  /** Null if the answer has failed or not ended yet. */
  readonly finish: AnswerFinishReason | null
  readonly failure: Failure | null
  readonly usage: TokenUsage | null
  readonly upstreamId: string | null
  readonly model: string | null
}

export interface OutcomeCollector {
  readonly push: (event: StreamEvent) => void
  readonly currentOutcome: () => Outcome
}

/** Receives each item when it starts and when it ends, e.g. to store items before the answer ends. */
export interface ItemListener {
  readonly itemStarted: (item: Item) => void
  readonly itemEnded: (item: Item, index: number) => void
  /** Called with an item that replaces an ended one. */
  readonly itemAmended: (item: Item, index: number) => void
}

export function createOutcomeCollector(listener: ItemListener | null = null): OutcomeCollector {
  const items: Item[] = []
  let rest: Omit<Outcome, 'items'> = {
    finish: null,
    failure: null,
    usage: null,
    upstreamId: null,
    model: null,
  }
  return {
    push(event) {
      if (event.type === 'item-ended') {
        items[event.index] = event.item
        listener?.itemEnded(event.item, event.index)
      } else if (event.type === 'item-amended') {
        items[event.index] = event.item
        listener?.itemAmended(event.item, event.index)
      } else if (event.type === 'item-started') {
        listener?.itemStarted(event.item)
      } else if (event.type === 'answer-started') {
        rest = { ...rest, upstreamId: event.upstreamId, model: event.model }
      } else if (event.type === 'answer-ended') {
        rest = { ...rest, finish: event.finish, usage: event.usage }
      } else if (event.type === 'answer-failed') {
        rest = {
          ...rest,
          failure: truncateFailureForStream(event.failure),
          usage: event.usage ?? null,
        }
      }
    },
    // Removes the empty entries of items that have started but not ended.
    currentOutcome: () => ({ ...rest, items: items.filter((item) => item !== undefined) }),
  }
}
