/**
 * Decides how the events of an answer's items reach the client. Normally each event names its item by
 * `output_index`, and the events of several items may be interleaved.
 *
 * Open WebUI appends an answer to the message that it continues. Up to 0.11.3 it also counts the items of
 * that message: index 0 is then an item that it showed before, and the new text would be added to the old
 * one. Later versions count only the items of the answer. All versions apply an event without an index to
 * the last item, so these events have none, and each item begins after the end of the one before.
 */
import type { SseEventCollector } from './sse-event-collector.ts'

/** The way of one item's events to the client. */
export interface ItemChannel {
  readonly collector: SseEventCollector
  /** The `output_index` in each event of the item; `null` if the events have none. */
  readonly outputIndex: number | null
  /** Must be called after the last event of the item. */
  readonly end: () => void
}

/** Opens the channel of the next item. */
export type OpenItemChannel = () => ItemChannel

export function createIndexedChannels(collector: SseEventCollector): OpenItemChannel {
  let count = 0
  return () => ({ collector, outputIndex: count++, end: () => undefined })
}

export function createSequentialChannels(collector: SseEventCollector): OpenItemChannel {
  /** The items that have not ended, in order. Events of all but the first one wait. */
  const openItems: DelayedItem[] = []
  return () => {
    const item: DelayedItem = { delayed: [], hasEnded: false }
    openItems.push(item)
    const run = (write: () => void): void => {
      if (openItems[0] === item) write()
      else item.delayed.push(write)
    }
    return {
      outputIndex: null,
      collector: {
        ...collector,
        addEvent: (type, fields) => run(() => collector.addEvent(type, fields)),
        addPrebuiltEvent: (type, start) => run(() => collector.addPrebuiltEvent(type, start)),
      },
      end() {
        item.hasEnded = true
        while (openItems[0]?.hasEnded === true) {
          openItems.shift()
          for (const write of openItems[0]?.delayed.splice(0) ?? []) write()
        }
      },
    }
  }
}

interface DelayedItem {
  readonly delayed: (() => void)[]
  hasEnded: boolean
}
