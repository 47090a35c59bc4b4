/**
 * Wraps a renderer so that the text of the answer contains the marker of its turn. A client that stores
 * only text sends the marker back, so that the gateway finds the turn with all its items. The stored turn
 * has no marker.
 */
import type { Outcome } from '../../../core/collect-answer-outcome.ts'
import type { Item } from '../../../core/item.ts'
import type { AnswerRenderer } from '../../../core/ports/dialect-interface.ts'
import type { StreamEvent } from '../../../core/stream-event.ts'
import type { SseMessage } from '../../../core/stream/sse.ts'
import {
  createMarkerInserter,
  type PendingMarker,
  type MarkerOptions,
} from './insert-marker-into-events.ts'

export function wrapRendererWithMarker(
  renderer: AnswerRenderer,
  marker: PendingMarker,
  options: MarkerOptions = {},
): AnswerRenderer {
  const inserter = createMarkerInserter(marker, options)
  let hasItems = false
  const render = (events: readonly StreamEvent[]): readonly SseMessage[] =>
    events.flatMap((event) => renderer.push(event))
  return {
    push(event) {
      hasItems ||= event.type === 'item-started'
      const events = inserter.push(event)
      return events === null ? renderer.push(event) : render(events)
    },
    end(outcome, endedAtMs) {
      const ending = inserter.end(outcome)
      // Without item events in the stream, the renderer uses the items of the outcome, so they need the
      // marker.
      const marked = hasItems
        ? ending.outcome
        : addMarkerToOutcome(outcome, marker.turnId, options, marker.isReady)
      return [...render(ending.events), ...renderer.end(marked, endedAtMs)]
    },
  }
}

/** Returns the outcome with the marker in its text, for a non-streamed answer whose turn is stored. */
export function addMarkerToOutcome(
  outcome: Outcome,
  turnId: string,
  options: MarkerOptions = {},
  isReady = () => true,
): Outcome {
  const inserter = createMarkerInserter({ turnId, isReady }, options)
  for (const [index, item] of outcome.items.entries()) {
    for (const event of listItemEvents(item, index)) inserter.push(event)
  }
  return inserter.end(outcome).outcome
}

function listItemEvents(item: Item, index: number): readonly StreamEvent[] {
  const parts = item.type === 'message' ? item.content : []
  return [
    { type: 'item-started', index, item },
    ...parts.flatMap((part, partIndex): readonly StreamEvent[] =>
      part.type === 'output_text'
        ? [{ type: 'text-delta', index, part: partIndex, text: part.text }]
        : [],
    ),
    { type: 'item-ended', index, item },
  ]
}
