/**
 * Creates an answer without calling an upstream: the empty answer to a warm-up request (`generate: false`),
 * or a compaction that the client requested. It is stored and rendered like any other answer.
 */
import type { StreamEvent, TokenUsage } from '../../core/stream-event.ts'
import type { Item } from '../../core/item.ts'
import type { AnswerEventSource } from './answer-event-source-interface.ts'

export function createLocalAnswer(items: readonly Item[], usage: TokenUsage): AnswerEventSource {
  const events: readonly StreamEvent[] = [
    { type: 'answer-started', upstreamId: null, model: null },
    ...items.flatMap((item, index): readonly StreamEvent[] => [
      { type: 'item-started', index, item },
      { type: 'item-ended', index, item },
    ]),
    { type: 'answer-ended', finish: 'stop', usage },
  ]
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
