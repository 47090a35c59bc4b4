/** Folds the events of an answer into its outcome, which the store saves and a non-streamed answer is rendered from. */
import type { Failure, AnswerFinishReason, StreamEvent, TokenUsage } from './stream-event.ts'
import type { Item } from './item.ts'
import { truncateFailure } from './text/truncate-failure-for-stream.ts'

export interface Outcome {
  /** Finished items in order. An item that a broken stream never ended is left out. */
  readonly items: readonly Item[]
  /** Null until the answer ends, and if it fails. */
  readonly finish: AnswerFinishReason | null
  readonly failure: Failure | null
  readonly usage: TokenUsage | null
  readonly upstreamId: string | null
  readonly model: string | null
}

export interface OutcomeFold {
  readonly push: (event: StreamEvent) => void
  readonly currentOutcome: () => Outcome
}

/** Receives each item when it starts and when it ends; the turn writer saves them one by one. */
export interface ItemListener {
  readonly itemStarted: (item: Item) => void
  readonly itemEnded: (item: Item, index: number) => void
}

export function foldAnswerOutcome(listener: ItemListener | null = null): OutcomeFold {
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
      } else if (event.type === 'item-started') {
        listener?.itemStarted(event.item)
      } else if (event.type === 'answer-started') {
        rest = { ...rest, upstreamId: event.upstreamId, model: event.model }
      } else if (event.type === 'answer-ended') {
        rest = { ...rest, finish: event.finish, usage: event.usage }
      } else if (event.type === 'answer-failed') {
        rest = { ...rest, failure: truncateFailure(event.failure), usage: event.usage ?? null }
      }
    },
    // An index without an item belongs to an item that never ended.
    currentOutcome: () => ({ ...rest, items: items.filter((item) => item !== undefined) }),
  }
}
