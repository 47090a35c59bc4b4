/**
 * Renders an answer as a stream of Responses events. Whatever events it is given, in whatever order,
 * the stream is a legal one: it begins with `response.created`, every item that it announces is
 * closed, and it ends with one terminal event and `[DONE]`.
 *
 * For Open WebUI it is a slim one: no line of it is long, and nothing that was asked is echoed.
 */
import type { Failure } from '../../../core/stream-event.ts'
import type { Item } from '../../../core/item.ts'
import type { Outcome } from '../../../core/fold-answer-outcome.ts'
import { createErrorBody, createFailure } from '../../../core/errors/gateway-error.ts'
import type { SseMessage } from '../../../core/stream/stage.ts'
import type { AnswerContext, AnswerRenderer } from '../../../core/ports/dialect-interface.ts'
import { exceedsByteLimit } from '../../exceeds-line-byte-limit.ts'
import { createOmittedImageStatus, collectGeneratedImages } from '../../collect-generated-images.ts'
import { prependContinuedOutput } from './prepend-continued-output.ts'
import {
  renderRequestFields,
  INITIAL_PROGRESS,
  renderProgressFields,
  progressFromOutcome,
  type ResponseProgress,
  type ResponseStatus,
} from './render-response-fields.ts'
import { renderErrorEventFields } from './error-event-fields.ts'
import { createEventShortener } from './shorten-events-over-limit.ts'
import { createSizeLimitedEventWriter } from './size-limited-event-writer.ts'
import { createOutputEventWriter } from './output-event-writer.ts'
import { createEventWriter, type EventWriter } from './event-writer.ts'

export function createResponsesStreamRenderer(answering: AnswerContext): AnswerRenderer {
  const written = answering.clientRequest.client.isOpenWebUi
    ? createSizeLimitedEventWriter()
    : createEventWriter()
  const lifecycle = tellLifecycle(answering, written)
  const items = createOutputEventWriter(answering, written)
  const images = tellOfImages(answering, written)
  const short = createEventShortener(answering)
  const taken = (): readonly SseMessage[] => written.taken().map((message) => short(message))
  return {
    push(event) {
      lifecycle.begin(event.type === 'answer-started' ? event.model : null)
      items.push(event)
      if (event.type === 'item-ended') images.ended(event.item)
      return taken()
    },
    end(outcome, endedAtMs) {
      lifecycle.begin(outcome.model)
      const progress = progressFromOutcome(over(outcome), endedAtMs)
      lifecycle.end(progress, items.end(progress.status))
      return [...taken(), { data: '[DONE]' }]
    },
  }
}

/** A stream that ends has come to something. */
function over(outcome: Outcome): Outcome {
  if (outcome.finish !== null || outcome.failure !== null) return outcome
  const failure = createFailure('upstream_broken', 'The answer broke off before it was complete.')
  return { ...outcome, failure }
}

function tellLifecycle(answering: AnswerContext, { write, writeAs }: EventWriter) {
  const { storage, client } = answering.clientRequest
  const { background } = storage
  // It holds all tools and instructions, so it is put into JSON once.
  const echo = client.isOpenWebUi
    ? '}'
    : `,${JSON.stringify(renderRequestFields(answering)).slice(1)}`
  let hasBegun = false
  const show = (type: string, progress: ResponseProgress, output: string | null): void => {
    const fields = JSON.stringify(renderProgressFields(progress, answering)).slice(0, -1)
    write(type, `"response":${fields}${output === null ? '' : `,"output":${output}`}${echo}`)
  }
  return {
    begin(model: string | null): void {
      if (hasBegun) return
      hasBegun = true
      const running: ResponseProgress = { ...INITIAL_PROGRESS, model }
      const first: ResponseProgress = background ? { ...running, status: 'queued' } : running
      show('response.created', first, '[]')
      if (background) show('response.queued', first, '[]')
      show('response.in_progress', running, '[]')
    },
    end(progress: ResponseProgress, output: string): void {
      const { failure, status } = progress
      if (client.isOpenWebUi) {
        if (failure !== null) writeAs(keptError(failure))
        const kept = keptOutput(prependContinuedOutput(output, answering))
        return show(heardEnding(status), progress, kept)
      }
      if (failure !== null) write('error', renderErrorEventFields(failure))
      show(`response.${status}`, progress, output)
    },
  }
}

/** Open WebUI keeps an image that comes as an item of a response, and shows none. */
function tellOfImages({ clientRequest: { client } }: AnswerContext, { writeAs }: EventWriter) {
  let isTold = !client.isOpenWebUi
  return {
    ended(item: Item): void {
      if (isTold || collectGeneratedImages(item).length === 0) return
      isTold = true
      writeAs(
        createOmittedImageStatus('Open WebUI shows images only over a connection of the type chat'),
      )
    },
  }
}

/** Open WebUI shows a failed response, but keeps only an error that it is told as in a chat. */
function keptError(failure: Failure): SseMessage {
  return { data: JSON.stringify(createErrorBody(failure)) }
}

/**
 * Open WebUI does not hear of `response.incomplete`, nor of the usage and the items that come with it.
 * The status within stays what it is, and so does `incomplete_details`: whoever reads them is told.
 */
function heardEnding(status: ResponseStatus): string {
  return status === 'incomplete' ? 'response.completed' : `response.${status}`
}

/**
 * Open WebUI puts the output of a completed response in the place of what was streamed. Without one it
 * keeps that, which is the same; a list of nothing would wipe out what stood there before, and a line
 * above 128 KiB the whole answer.
 */
function keptOutput(output: string): string | null {
  return output === '[]' || exceedsByteLimit(output, MAX_OUTPUT_BYTES) ? null : output
}

const MAX_OUTPUT_BYTES = 100_000
