/** Runs events through the marker insertion without a dialect around it. */
import type { StreamEvent } from '../../src/core/stream-event.ts'
import type { Item } from '../../src/core/item.ts'
import { createOutcomeCollector, type Outcome } from '../../src/core/collect-answer-outcome.ts'
import type { MarkerOptions } from '../../src/gateway/respond/markers/insert-marker-into-events.ts'
import { wrapRendererWithMarker } from '../../src/gateway/respond/markers/wrap-renderer-with-marker.ts'
import { NO_OUTPUT } from '../../src/core/stream/stream-stage.ts'

export const MARKER_TURN_ID = '01KQZ3V8M6T2X9R4B7C9'

export interface MarkedAnswer {
  /** The events that reach the dialect's renderer, in order. */
  readonly events: readonly StreamEvent[]
  /** The outcome that the renderer gets at the end. */
  readonly outcome: Outcome
}

/** The turn is stored from the event with index `readyAt` on; with `Infinity` it never is. */
export function insertMarker(
  events: readonly StreamEvent[],
  readyAt = 0,
  options: MarkerOptions = {},
): MarkedAnswer {
  const told: StreamEvent[] = []
  const outcomes: Outcome[] = []
  let isReady = readyAt === 0
  const inner = {
    push: (event: StreamEvent) => {
      told.push(event)
      return NO_OUTPUT
    },
    end: (outcome: Outcome) => {
      outcomes.push(outcome)
      return NO_OUTPUT
    },
  }
  const renderer = wrapRendererWithMarker(
    inner,
    { turnId: MARKER_TURN_ID, isReady: () => isReady },
    options,
  )
  for (const [at, event] of events.entries()) {
    isReady ||= at >= readyAt
    renderer.push(event)
  }
  isReady ||= readyAt <= events.length
  const said = collectOutcome(events)
  renderer.end(said, 0)
  return { events: told, outcome: outcomes[0] ?? said }
}

export function collectOutcome(events: readonly StreamEvent[]): Outcome {
  const fold = createOutcomeCollector()
  for (const event of events) fold.push(event)
  return fold.currentOutcome()
}

/** Returns the events of messages, each in several pieces. */
export function createMessageEvents(
  ...messages: readonly (readonly string[])[]
): readonly StreamEvent[] {
  return createAnswerEvents(messages.map((pieces, index) => messageEvents(index, pieces)))
}

export function createAnswerEvents(
  items: readonly (readonly StreamEvent[])[],
  finish: 'stop' | 'length' = 'stop',
): readonly StreamEvent[] {
  return [
    { type: 'answer-started', upstreamId: null, model: null },
    ...items.flat(),
    { type: 'answer-ended', finish: finish, usage: null },
  ]
}

export function messageEvents(index: number, pieces: readonly string[]): readonly StreamEvent[] {
  const item: Item = {
    type: 'message',
    role: 'assistant',
    content: [{ type: 'output_text', text: pieces.join('') }],
  }
  return [
    { type: 'item-started', index, item: { ...item, content: [] } },
    ...pieces.map((text): StreamEvent => ({ type: 'text-delta', index, part: 0, text })),
    { type: 'item-ended', index, item },
  ]
}

export function callEvents(index: number): readonly StreamEvent[] {
  const call: Item = { type: 'function_call', call_id: `call_${index}`, name: 'f', arguments: '' }
  return [
    { type: 'item-started', index, item: call },
    { type: 'arguments-delta', index, text: '{}' },
    { type: 'item-ended', index, item: { ...call, arguments: '{}' } },
  ]
}

export function reasoningEvents(index: number): readonly StreamEvent[] {
  const item: Item = { type: 'reasoning', summary: [{ type: 'summary_text', text: 'hm' }] }
  return [
    { type: 'item-started', index, item: { ...item, summary: [] } },
    { type: 'reasoning-delta', index, channel: 'summary', part: 0, text: 'hm' },
    { type: 'item-ended', index, item },
  ]
}

/** Returns the text pieces that a client receives. */
export function listTextPieces({ events }: MarkedAnswer): readonly string[] {
  return events.flatMap((event) => (event.type === 'text-delta' ? [event.text] : []))
}
