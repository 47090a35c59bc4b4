/**
 * Tells an answer without what is of the house: no client hears of a tool that it does not know. What
 * is recorded of the answer is all of it, for this stands around the renderer alone.
 */
import type { StreamEvent } from '../../core/stream-event.ts'
import { isGatewayToolItem, removeGatewayToolItems } from '../../core/items/gateway-tool-items.ts'
import type { Outcome } from '../../core/fold-answer-outcome.ts'
import type { AnswerRenderer } from '../../core/ports/dialect-interface.ts'
import { NO_OUTPUT } from '../../core/stream/stage.ts'

export function hideGatewayTools(renderer: AnswerRenderer): AnswerRenderer {
  /** The place that each item has for the client; `null` for one that it does not see. */
  const places: (number | null)[] = []
  let shown = 0
  const seen = (event: StreamEvent): StreamEvent | null => {
    if (!('index' in event)) return event
    if (event.type === 'item-started') {
      places[event.index] = isGatewayToolItem(event.item) ? null : shown++
    }
    const index = places[event.index] ?? null
    if (index === event.index) return event
    return index === null ? null : { ...event, index }
  }
  return {
    push(event) {
      const told = seen(event)
      return told === null ? NO_OUTPUT : renderer.push(told)
    },
    end: (outcome, endedAtMs) => renderer.end(removeGatewayToolsFromOutcome(outcome), endedAtMs),
  }
}

/** The very same, if there is nothing to hide. */
export function removeGatewayToolsFromOutcome(outcome: Outcome): Outcome {
  const items = removeGatewayToolItems(outcome.items)
  return items === outcome.items ? outcome : { ...outcome, items }
}
