/**
 * Lets an answer name its turn in its own text: the client that keeps nothing but text brings the
 * marker back, and with it everything that belongs to the turn. It stands around a dialect's
 * renderer, so that what is recorded of the answer knows nothing of it.
 */
import type { StreamEvent } from '../../../core/stream-event.ts'
import type { Item } from '../../../core/item.ts'
import type { Outcome } from '../../../core/fold-answer-outcome.ts'
import type { AnswerRenderer } from '../../../core/ports/dialect-interface.ts'
import {
  createMarkerInserter,
  type PendingMarker,
  type MarkerOptions,
} from './insert-marker-into-events.ts'
import type { SseMessage } from '../../../core/stream/stage.ts'

export type { PendingMarker, MarkerOptions } from './insert-marker-into-events.ts'

export function wrapRendererWithMarker(
  renderer: AnswerRenderer,
  mark: PendingMarker,
  options: MarkerOptions = {},
): AnswerRenderer {
  const placer = createMarkerInserter(mark, options)
  let isTold = false
  const render = (events: readonly StreamEvent[]): readonly SseMessage[] =>
    events.flatMap((event) => renderer.push(event))
  return {
    push(event) {
      isTold ||= event.type === 'item-started'
      const events = placer.push(event)
      return events === null ? renderer.push(event) : render(events)
    },
    end(outcome, endedAtMs) {
      const ending = placer.end(outcome)
      // An answer that was there at once is told by its outcome alone.
      const told = isTold ? ending.outcome : wholeOutcome(outcome, mark, options)
      return [...render(ending.events), ...renderer.end(told, endedAtMs)]
    },
  }
}

/** The same for an answer that was there at once. The turn is ready. */
export function addMarkerToOutcome(
  outcome: Outcome,
  turnId: string,
  options: MarkerOptions = {},
): Outcome {
  return wholeOutcome(outcome, { turnId, isReady: () => true }, options)
}

function wholeOutcome(outcome: Outcome, mark: PendingMarker, options: MarkerOptions): Outcome {
  const placer = createMarkerInserter(mark, options)
  for (const [index, item] of outcome.items.entries()) {
    for (const event of eventsOf(item, index)) placer.push(event)
  }
  return placer.end(outcome).outcome
}

function eventsOf(item: Item, index: number): readonly StreamEvent[] {
  const parts = item.type === 'message' ? item.content : []
  return [
    { type: 'item-started', index, item },
    ...parts.flatMap((part, at): readonly StreamEvent[] =>
      part.type === 'output_text' ? [{ type: 'text-delta', index, part: at, text: part.text }] : [],
    ),
    { type: 'item-ended', index, item },
  ]
}
