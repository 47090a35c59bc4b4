/** A stream told anew: decoded, rendered in the client's dialect. */
import { isTerminalEvent, type Failure, type StreamEvent } from '../../core/stream-event.ts'
import type { OutcomeFold } from '../../core/fold-answer-outcome.ts'
import type { AnswerRenderer } from '../../core/ports/dialect-interface.ts'
import type { FilteredDecoder } from './event-filters/apply-event-filters.ts'
import type { FirstTextDelay } from './markers/delay-first-text.ts'
import type { ResponseWriter } from './response-writer-interface.ts'
import { formatSseMessage } from '../../core/stream/sse.ts'

export function createTranslatingWriter<Chunk>(parts: {
  readonly decoder: FilteredDecoder<Chunk>
  readonly renderer: AnswerRenderer
  readonly fold: OutcomeFold
  readonly now: () => number
  /** Of a client whose answer is to name its turn. */
  readonly held?: FirstTextDelay | null
}): ResponseWriter<Chunk> {
  const { decoder, renderer, fold, now, held = null } = parts
  let over = false

  const rendered = (event: StreamEvent): string => {
    let text = ''
    for (const message of renderer.push(event)) text += formatSseMessage(message)
    return text
  }
  const renderedAll = (events: readonly StreamEvent[]): string => events.map(rendered).join('')
  const told = (events: readonly StreamEvent[]): string => {
    let text = ''
    for (const event of events) {
      if (over) break
      over = isTerminalEvent(event)
      fold.push(event)
      text += held === null ? rendered(event) : renderedAll(held.push(event))
    }
    return text
  }

  return {
    push: (chunk) => told(decoder.push(chunk)),
    isOver: () => over,
    isCutShort: decoder.isCutShort,
    close(failure: Failure | null) {
      if (over) return ''
      return told(failure === null ? decoder.end() : decoder.broken(failure))
    },
    outcome: fold.currentOutcome,
    end(outcome) {
      const before = held === null ? '' : renderedAll(held.release())
      return before + renderer.end(outcome, now()).map(formatSseMessage).join('')
    },
    onReady: (send) => held?.onReady((events) => send(() => renderedAll(events))),
  }
}
