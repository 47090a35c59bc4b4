/** Creates the events of answers with one message, and reads the text that remains after an event filter. */
import fc, { type Arbitrary } from 'fast-check'
import type { StreamEvent, TokenUsage } from '../../src/core/stream-event.ts'
import { textOf, type Item } from '../../src/core/item.ts'

export const USAGE: TokenUsage = {
  inputTokens: 3,
  cachedTokens: null,
  cacheWriteTokens: null,
  outputTokens: 5,
  reasoningTokens: null,
  totalTokens: 8,
}

export const STARTED: StreamEvent = { type: 'answer-started', upstreamId: 'up', model: 'm' }
export const ENDED: StreamEvent = { type: 'answer-ended', finish: 'length', usage: USAGE }

export function message(text: string, more: Partial<Item> = {}): Item {
  const content = text === '' ? [] : [{ type: 'output_text' as const, text }]
  return { type: 'message', role: 'assistant', content, ...more } as Item
}

export function textDelta(text: string, index = 0): StreamEvent {
  return { type: 'text-delta', index, part: 0, text }
}

export function messageStarted(index = 0): StreamEvent {
  return { type: 'item-started', index, item: message('') }
}

export function createAnswer(pieces: readonly string[]): readonly StreamEvent[] {
  return [
    STARTED,
    messageStarted(),
    ...pieces.map((text) => textDelta(text)),
    { type: 'item-ended', index: 0, item: message(pieces.join('')) },
    ENDED,
  ]
}

/** Generates a text as the pieces that it is streamed in. */
export function splitText(text: Arbitrary<string>): Arbitrary<readonly string[]> {
  return fc.tuple(text, fc.array(fc.nat(200), { maxLength: 12 })).map(([complete, cuts]) => {
    const offsets = [0, ...cuts.map((cut) => cut % (complete.length + 1)), complete.length]
    const sorted = offsets.toSorted((one, other) => one - other)
    return sorted.slice(1).map((end, index) => complete.slice(sorted[index], end))
  })
}

/** Joins the deltas. `eventFaults` checks that the items have the same text. */
export function joinDeltas(events: readonly StreamEvent[]): string {
  return events.flatMap((event) => (event.type === 'text-delta' ? [event.text] : [])).join('')
}

export function listFinalTexts(events: readonly StreamEvent[]): readonly string[] {
  return events.flatMap((event) =>
    event.type === 'item-ended' && event.item.type === 'message'
      ? [textOf(event.item.content)]
      : [],
  )
}
