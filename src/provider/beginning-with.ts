/**
 * A provider whose answers begin with an item that the gateway has made itself. The others move up
 * by one, and nothing of the stream can be passed on as it comes.
 */
import type { StreamEvent } from '../conversation/event.ts'
import type { Item } from '../conversation/item.ts'
import type { Provider } from './provider.ts'

export function beginningWith(provider: Provider, item: Item): Provider {
  return {
    ...provider,
    speaks: () => null,
    decode(account, prompt) {
      const decoder = provider.decode(account, prompt)
      const shift = shifter(item)
      return {
        push: (message) => shift(decoder.push(message)),
        end: () => shift(decoder.end()),
      }
    },
    decodeWhole: (body, account, prompt) =>
      shifter(item)(provider.decodeWhole(body, account, prompt)),
  }
}

function shifter(item: Item): (events: readonly StreamEvent[]) => readonly StreamEvent[] {
  let hasBegun = false
  return (events) => {
    const told: StreamEvent[] = []
    for (const event of events) {
      if (event.type === 'answer-started') told.push(event)
      if (!hasBegun) told.push(...ownItem(item))
      hasBegun = true
      if (event.type !== 'answer-started') {
        told.push('index' in event ? { ...event, index: event.index + 1 } : event)
      }
    }
    return told
  }
}

function ownItem(item: Item): readonly StreamEvent[] {
  return [
    { type: 'item-started', index: 0, item },
    { type: 'item-ended', index: 0, item },
  ]
}
