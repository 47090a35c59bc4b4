/**
 * An answer that no model gives: a warm-up that only prepares what is asked next, a compaction that
 * was asked for by itself. It goes the way of any other answer, so it is kept and told like one.
 */
import type { StreamEvent, TokenUsage } from '../../core/stream-event.ts'
import type { Item } from '../../core/item.ts'
import type { AnswerEventSource } from './answer-event-source-interface.ts'

export function createLocalAnswer(items: readonly Item[], usage: TokenUsage): AnswerEventSource {
  const events = eventsOf(items, usage)
  return {
    flow(sink) {
      queueMicrotask(() => {
        sink.chunk(events)
        sink.end()
      })
      return { pause: () => undefined, resume: () => undefined }
    },
    cancel: () => undefined,
    end: () => events,
  }
}

function eventsOf(items: readonly Item[], usage: TokenUsage): readonly StreamEvent[] {
  return [
    { type: 'answer-started', upstreamId: null, model: null },
    ...items.flatMap((item, index): readonly StreamEvent[] => [
      { type: 'item-started', index, item },
      { type: 'item-ended', index, item },
    ]),
    { type: 'answer-ended', finish: 'stop', usage },
  ]
}
