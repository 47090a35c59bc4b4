/**
 * Renders an answer as a stream of Responses events. The stream is valid for any input events in
 * any order: it begins with `response.created`, each item that starts also ends, and the last
 * messages are one terminal event and `[DONE]`.
 *
 * Open WebUI gets a smaller stream: it lacks the fields of the request, and long events are
 * shortened or dropped, because Open WebUI aborts an answer at a line of more than 128 KiB.
 */
import type { Outcome } from '../../../core/collect-answer-outcome.ts'
import { createErrorBody, createFailure } from '../../../core/errors/gateway-error.ts'
import { findContinuedMessage } from '../../../core/items/find-continued-message.ts'
import type { SseMessage } from '../../../core/stream/sse.ts'
import type { Item } from '../../../core/item.ts'
import type { AnswerContext, AnswerRenderer } from '../../../core/ports/dialect-interface.ts'
import { exceedsByteLimit } from '../../stream-line-limits.ts'
import { createOmittedImageStatus, renderAnswerImages } from '../../render-answer-images.ts'
import { createIndexedChannels, createSequentialChannels } from './item-channels.ts'
import {
  renderRequestFields,
  INITIAL_PROGRESS,
  renderErrorEventFields,
  renderProgressFields,
  convertOutcomeToProgress,
  type ResponseProgress,
  type ResponseStatus,
} from './render-response-fields.ts'
import { createEventShortener } from './shorten-events-over-limit.ts'
import { createLineLimitedEventCollector } from './line-limited-event-collector.ts'
import { createOutputEventWriter } from './output-event-writer.ts'
import { createSseEventCollector, type SseEventCollector } from './sse-event-collector.ts'

export function createResponsesStreamRenderer(answerContext: AnswerContext): AnswerRenderer {
  const collector = answerContext.clientRequest.client.isOpenWebUi
    ? createLineLimitedEventCollector()
    : createSseEventCollector()
  const response = createResponseEventWriter(answerContext, collector)
  const openChannels = isContinuation(answerContext)
    ? createSequentialChannels
    : createIndexedChannels
  const items = createOutputEventWriter(answerContext, openChannels(collector))
  const warnOfImage = createImageWarning(answerContext, collector)
  const shorten = createEventShortener(answerContext)
  const takeMessages = (): readonly SseMessage[] =>
    collector.takeMessages().map((message) => shorten(message))
  return {
    push(event) {
      response.start(event.type === 'answer-started' ? event.model : null)
      items.writeEventsFor(event)
      if (event.type === 'item-ended') warnOfImage(event.item)
      return takeMessages()
    },
    end(outcome, endedAtMs) {
      response.start(outcome.model)
      const progress = convertOutcomeToProgress(requireEnding(outcome), endedAtMs)
      response.end(progress, items.closeItems(progress.status))
      return [...takeMessages(), { data: '[DONE]' }]
    },
  }
}

/** Returns the outcome. An outcome with neither a finish reason nor a failure gets a failure. */
function requireEnding(outcome: Outcome): Outcome {
  if (outcome.finish !== null || outcome.failure !== null) return outcome
  const failure = createFailure('upstream_broken', 'The answer broke off before it was complete.')
  return { ...outcome, failure }
}

/** Creates the writer of events that contain the response object. */
function createResponseEventWriter(
  answerContext: AnswerContext,
  { addEvent, addMessage }: SseEventCollector,
) {
  const { storage, client } = answerContext.clientRequest
  const { background } = storage
  // The request fields are serialized only once, because they contain all tools and instructions.
  const responseEnd = client.isOpenWebUi
    ? '}'
    : `,${JSON.stringify(renderRequestFields(answerContext)).slice(1)}`
  let isStarted = false
  const writeResponse = (type: string, progress: ResponseProgress, output: string | null): void => {
    const fields = JSON.stringify(renderProgressFields(progress, answerContext)).slice(0, -1)
    const outputField = output === null ? '' : `,"output":${output}`
    addEvent(type, `"response":${fields}${outputField}${responseEnd}`)
  }
  return {
    start(model: string | null): void {
      if (isStarted) return
      isStarted = true
      const running: ResponseProgress = { ...INITIAL_PROGRESS, model }
      const first: ResponseProgress = background ? { ...running, status: 'queued' } : running
      writeResponse('response.created', first, '[]')
      if (background) writeResponse('response.queued', first, '[]')
      writeResponse('response.in_progress', running, '[]')
    },
    end(progress: ResponseProgress, output: string): void {
      const { failure, status } = progress
      if (client.isOpenWebUi) {
        // Open WebUI stores an error only if it has the format of a chat stream.
        if (failure !== null) addMessage({ data: JSON.stringify(createErrorBody(failure)) })
        const shownOutput = isContinuation(answerContext) ? null : omitRiskyOutput(output)
        return writeResponse(selectEndEvent(status), progress, shownOutput)
      }
      if (failure !== null) addEvent('error', renderErrorEventFields(failure))
      writeResponse(`response.${status}`, progress, output)
    },
  }
}

/**
 * Creates a function that sends a status message when the first image arrives, because Open WebUI
 * does not show images of a response.
 */
function createImageWarning(
  { clientRequest: { client } }: AnswerContext,
  { addMessage }: SseEventCollector,
) {
  let isDone = !client.isOpenWebUi
  return (item: Item): void => {
    if (isDone || renderAnswerImages(item).length === 0) return
    isDone = true
    addMessage(
      createOmittedImageStatus('Open WebUI shows images only over a connection of the type chat'),
    )
  }
}

/**
 * Returns the type of the last event. An incomplete answer ends with `response.completed` too,
 * because Open WebUI ignores `response.incomplete` and would lose its usage and items. The response
 * object in the event still has the status `incomplete` and `incomplete_details`.
 */
function selectEndEvent(status: ResponseStatus): string {
  return status === 'incomplete' ? 'response.completed' : `response.${status}`
}

/**
 * True if the answer continues a message of Open WebUI. Some versions then replace the complete message by
 * the output at the end, others only its new items: without an output, both keep the streamed items.
 */
function isContinuation({ clientRequest }: AnswerContext): boolean {
  return findContinuedMessage(clientRequest) !== null
}

/**
 * Returns the output, or `null` if it would damage the message in Open WebUI. There, the output
 * replaces the streamed text: an empty list would delete the text, and a line of more than 128 KiB
 * the complete answer. Without an output, Open WebUI keeps the streamed text, which has the same
 * content.
 */
function omitRiskyOutput(output: string): string | null {
  return output === '[]' || exceedsByteLimit(output, MAX_OUTPUT_BYTES) ? null : output
}

const MAX_OUTPUT_BYTES = 100_000
