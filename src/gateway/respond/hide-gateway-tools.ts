/**
 * Hides the calls and outputs of gateway tools from a client, which does not know these tools. Only the
 * renderer is wrapped, so the stored turn still contains all items.
 */
import type { StreamEvent } from '../../core/stream-event.ts'
import { isGatewayToolItem, removeGatewayToolItems } from '../../core/items/gateway-tool-items.ts'
import type { Outcome } from '../../core/collect-answer-outcome.ts'
import type { AnswerRenderer } from '../../core/ports/dialect-interface.ts'
import { NO_OUTPUT } from '../../core/stream/stream-stage.ts'

export function hideGatewayTools(renderer: AnswerRenderer): AnswerRenderer {
  /**
   * By index of an item in the answer: its index in the client's output, or null if it is hidden, e.g. `[0,
   * null, null, 1]`.
   */
  const clientIndexes: (number | null)[] = []
  let visibleCount = 0
  const toVisibleEvent = (event: StreamEvent): StreamEvent | null => {
    if (!('index' in event)) return event
    if (event.type === 'item-started') {
      clientIndexes[event.index] = isGatewayToolItem(event.item) ? null : visibleCount++
    }
    const index = clientIndexes[event.index] ?? null
    if (index === event.index) return event
    return index === null ? null : { ...event, index }
  }
  return {
    push(event) {
      const visible = toVisibleEvent(event)
      return visible === null ? NO_OUTPUT : renderer.push(visible)
    },
    end: (outcome, endedAtMs) => renderer.end(removeGatewayToolsFromOutcome(outcome), endedAtMs),
  }
}

/** Returns the outcome without the items of gateway tools. If there are none, returns the same object. */
export function removeGatewayToolsFromOutcome(outcome: Outcome): Outcome {
  const items = removeGatewayToolItems(outcome.items)
  return items === outcome.items ? outcome : { ...outcome, items }
}
