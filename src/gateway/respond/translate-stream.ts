/** A stream told anew: decoded, rendered in the client's dialect. */
import { isTerminal, type Failure, type StreamEvent } from '../../core/stream-event.ts'
import type { OutcomeFold } from '../../core/fold-answer-outcome.ts'
import type { Renderer } from '../../core/ports/dialect-interface.ts'
import type { Guarded } from './event-filters/apply-event-filters.ts'
import type { HeldWords } from './markers/delay-first-text.ts'
import type { Rendition } from './response-writer-interface.ts'
import { frame } from '../../core/stream/sse.ts'

export function translated<Chunk>(parts: {
  readonly decoder: Guarded<Chunk>
  readonly renderer: Renderer
  readonly fold: OutcomeFold
  readonly now: () => number
  /** Of a client whose answer is to name its turn. */
  readonly held?: HeldWords | null
}): Rendition<Chunk> {
  const { decoder, renderer, fold, now, held = null } = parts
  let over = false

  const rendered = (event: StreamEvent): string => {
    let text = ''
    for (const message of renderer.push(event)) text += frame(message)
    return text
  }
  const renderedAll = (events: readonly StreamEvent[]): string => events.map(rendered).join('')
  const told = (events: readonly StreamEvent[]): string => {
    let text = ''
    for (const event of events) {
      if (over) break
      over = isTerminal(event)
      fold.push(event)
      text += held === null ? rendered(event) : renderedAll(held.push(event))
    }
    return text
  }

  return {
    push: (chunk) => told(decoder.push(chunk)),
    isOver: () => over,
    isCut: decoder.isCut,
    close(failure: Failure | null) {
      if (over) return ''
      return told(failure === null ? decoder.end() : decoder.broken(failure))
    },
    outcome: fold.now,
    end(outcome) {
      const before = held === null ? '' : renderedAll(held.release())
      return before + renderer.end(outcome, now()).map(frame).join('')
    },
    later: (send) => held?.later((events) => send(() => renderedAll(events))),
  }
}
