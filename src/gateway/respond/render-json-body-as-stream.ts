/**
 * A whole answer in the place of the stream that was asked for: it is read to its end, and told as
 * that stream. A body that breaks, or is no JSON, is a failure like any other.
 */
import type { Failure, StreamEvent } from '../../core/stream-event.ts'
import type { JsonObject } from '../../core/json/json.ts'
import type { OutcomeFold } from '../../core/fold-answer-outcome.ts'
import type { AnswerRenderer } from '../../core/ports/dialect-interface.ts'
import { NOT_JSON_FAILURE } from '../../upstream/transport/read-body.ts'
import { bufferJsonBody } from '../send/buffer-json-body.ts'
import type { ResponseWriter } from './response-writer-interface.ts'
import { formatSseMessage } from '../../core/stream/sse.ts'

export function createJsonBodyRenderer(parts: {
  /** What the body says, guards included. */
  readonly decode: (body: JsonObject) => readonly StreamEvent[]
  readonly renderer: AnswerRenderer
  readonly fold: OutcomeFold
  readonly now: () => number
}): ResponseWriter {
  const { decode, renderer, fold, now } = parts
  const body = bufferJsonBody()

  const events = (failure: Failure | null): readonly StreamEvent[] => {
    if (failure !== null) return failed(failure)
    const json = body.read()
    return json === null ? failed(NOT_JSON_FAILURE) : decode(json)
  }
  return {
    push(chunk) {
      body.add(chunk)
      return ''
    },
    isOver: () => false,
    isCutShort: () => false,
    close(failure) {
      let text = ''
      for (const event of events(failure)) {
        fold.push(event)
        for (const message of renderer.push(event)) text += formatSseMessage(message)
      }
      return text
    },
    outcome: fold.currentOutcome,
    end: (outcome) => renderer.end(outcome, now()).map(formatSseMessage).join(''),
  }
}

function failed(failure: Failure): readonly StreamEvent[] {
  return [
    { type: 'answer-started', upstreamId: null, model: null },
    { type: 'answer-failed', failure },
  ]
}
