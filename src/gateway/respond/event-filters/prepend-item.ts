/**
 * Inserts an item of the gateway, e.g. a compaction, at the start of an answer. The indexes of the other
 * items increase by one.
 */
import type { StreamEvent } from '../../../core/stream-event.ts'
import type { Item } from '../../../core/item.ts'
import type { EventFilter } from './apply-event-filters.ts'
import { NO_OUTPUT } from '../../../core/stream/stream-stage.ts'

export function createPrependItemFilter(item: Item): EventFilter {
  const itemEvents: readonly StreamEvent[] = [
    { type: 'item-started', index: 0, item },
    { type: 'item-ended', index: 0, item },
  ]
  let hasBegun = false
  return {
    push(event) {
      const first = hasBegun ? NO_OUTPUT : itemEvents
      hasBegun = true
      if (event.type === 'answer-started') return [event, ...first]
      return [...first, 'index' in event ? { ...event, index: event.index + 1 } : event]
    },
    end: () => NO_OUTPUT,
  }
}
