/**
 * Tells an answer without what is of the house: no client hears of a tool that it does not know. What
 * is recorded of the answer is all of it, for this stands around the renderer alone.
 */
import type { StreamEvent } from '../../core/stream-event.ts'
import { isOfHouse, withoutHouse } from '../../core/items/gateway-tool-items.ts'
import type { Outcome } from '../../core/fold-answer-outcome.ts'
import type { Renderer } from '../../core/ports/dialect-interface.ts'
import { NOTHING } from '../../core/stream/stage.ts'

export function hideHouse(renderer: Renderer): Renderer {
  /** The place that each item has for the client; `null` for one that it does not see. */
  const places: (number | null)[] = []
  let shown = 0
  const seen = (event: StreamEvent): StreamEvent | null => {
    if (!('index' in event)) return event
    if (event.type === 'item-started') {
      places[event.index] = isOfHouse(event.item) ? null : shown++
    }
    const index = places[event.index] ?? null
    if (index === event.index) return event
    return index === null ? null : { ...event, index }
  }
  return {
    push(event) {
      const told = seen(event)
      return told === null ? NOTHING : renderer.push(told)
    },
    end: (outcome, endedAtMs) => renderer.end(outcomeShown(outcome), endedAtMs),
  }
}

/** The very same, if there is nothing to hide. */
export function outcomeShown(outcome: Outcome): Outcome {
  const items = withoutHouse(outcome.items)
  return items === outcome.items ? outcome : { ...outcome, items }
}
