/** Answers of one message, with its text in pieces, and what is left of its text behind a guard. */
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

export function said(text: string, index = 0): StreamEvent {
  return { type: 'text-delta', index, part: 0, text }
}

export function begun(index = 0): StreamEvent {
  return { type: 'item-started', index, item: message('') }
}

export function answerOf(pieces: readonly string[]): readonly StreamEvent[] {
  return [
    STARTED,
    begun(),
    ...pieces.map((text) => said(text)),
    { type: 'item-ended', index: 0, item: message(pieces.join('')) },
    ENDED,
  ]
}

/** A text and the pieces that it comes in. */
export function inPieces(text: Arbitrary<string>): Arbitrary<readonly string[]> {
  return fc.tuple(text, fc.array(fc.nat(200), { maxLength: 12 })).map(([whole, places]) => {
    const borders = [0, ...places.map((place) => place % (whole.length + 1)), whole.length]
    const sorted = borders.toSorted((one, other) => one - other)
    return sorted.slice(1).map((end, at) => whole.slice(sorted[at], end))
  })
}

/** By the deltas. That the items say the same is one of the event laws. */
export function textIn(events: readonly StreamEvent[]): string {
  return events.flatMap((event) => (event.type === 'text-delta' ? [event.text] : [])).join('')
}

export function finalTextsIn(events: readonly StreamEvent[]): readonly string[] {
  return events.flatMap((event) =>
    event.type === 'item-ended' && event.item.type === 'message'
      ? [textOf(event.item.content)]
      : [],
  )
}
