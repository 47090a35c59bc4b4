/** Creates the writer that decodes an upstream's answer and renders it in the client's dialect. */
import { isTerminalEvent, type Failure, type StreamEvent } from '../../core/stream-event.ts'
import type { OutcomeCollector } from '../../core/collect-answer-outcome.ts'
import type { AnswerRenderer } from '../../core/ports/dialect-interface.ts'
import type { FilteredDecoder } from './event-filters/apply-event-filters.ts'
import type { FirstTextDelay } from './markers/delay-first-text.ts'
import { CLIENT_DISCONNECTED, type ResponseWriter } from './response-writer-interface.ts'
import { formatSseMessage } from '../../core/stream/sse.ts'

export function createTranslatingWriter<Chunk>(parts: {
  readonly decoder: FilteredDecoder<Chunk>
  readonly renderer: AnswerRenderer
  readonly fold: OutcomeCollector
  readonly nowMs: () => number
  /**
   * Delays the first text until the turn is stored, so that a marker can precede the text. Null without
   * markers.
   */
  readonly firstTextDelay?: FirstTextDelay | null
}): ResponseWriter<Chunk> {
  const { decoder, renderer, fold, nowMs, firstTextDelay = null } = parts
  let isOver = false

  const collect = (event: StreamEvent): void => {
    isOver = isTerminalEvent(event)
    fold.push(event)
  }
  const render = (event: StreamEvent): string => {
    let text = ''
    for (const message of renderer.push(event)) text += formatSseMessage(message)
    return text
  }
  const renderAll = (events: readonly StreamEvent[]): string => events.map(render).join('')
  const write = (events: readonly StreamEvent[]): string => {
    let text = ''
    for (const event of events) {
      if (isOver) break
      collect(event)
      text += firstTextDelay === null ? render(event) : renderAll(firstTextDelay.push(event))
    }
    return text
  }

  return {
    push: (chunk) => write(decoder.push(chunk)),
    isOver: () => isOver,
    isCutShort: decoder.isCutShort,
    endBody(failure: Failure | null) {
      if (isOver) return ''
      return write(failure === null ? decoder.end() : decoder.endBrokenAnswer(failure))
    },
    abandon() {
      if (isOver) return
      for (const event of decoder.endBrokenAnswer(CLIENT_DISCONNECTED)) if (!isOver) collect(event)
    },
    getOutcome: fold.currentOutcome,
    renderEnd(outcome) {
      const delayed = firstTextDelay === null ? '' : renderAll(firstTextDelay.release())
      return delayed + renderer.end(outcome, nowMs()).map(formatSseMessage).join('')
    },
    onReady: (send) => firstTextDelay?.onReady((events) => send(() => renderAll(events))),
  }
}
