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
import { errorBody, failureOf } from '../../../core/errors/gateway-error.ts'
import type { SseMessage } from '../../../core/stream/stage.ts'
import type { Answering, Renderer } from '../../../core/ports/dialect-interface.ts'
import { isLonger } from '../../exceeds-line-byte-limit.ts'
import { imageNotShown, madeImages } from '../../collect-generated-images.ts'
import { continuedOutput } from './prepend-continued-output.ts'
import {
  echoFields,
  JUST_BEGUN,
  progressFields,
  progressOf,
  type Progress,
  type ResponseStatus,
} from './render-response-fields.ts'
import { errorFields } from './error-event-fields.ts'
import { shortLines } from './shorten-events-over-limit.ts'
import { slimWriter } from './size-limited-event-writer.ts'
import { tellItems } from './output-event-writer.ts'
import { writer, type Writer } from './event-writer.ts'

export function stream(answering: Answering): Renderer {
  const written = answering.inbound.client.isOpenWebUi ? slimWriter() : writer()
  const lifecycle = tellLifecycle(answering, written)
  const items = tellItems(answering, written)
  const images = tellOfImages(answering, written)
  const short = shortLines(answering)
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
      const progress = progressOf(over(outcome), endedAtMs)
      lifecycle.end(progress, items.end(progress.status))
      return [...taken(), { data: '[DONE]' }]
    },
  }
}

/** A stream that ends has come to something. */
function over(outcome: Outcome): Outcome {
  if (outcome.finish !== null || outcome.failure !== null) return outcome
  const failure = failureOf('upstream_broken', 'The answer broke off before it was complete.')
  return { ...outcome, failure }
}

function tellLifecycle(answering: Answering, { write, writeAs }: Writer) {
  const { memory, client } = answering.inbound
  const { background } = memory
  // It holds all tools and instructions, so it is put into JSON once.
  const echo = client.isOpenWebUi ? '}' : `,${JSON.stringify(echoFields(answering)).slice(1)}`
  let hasBegun = false
  const show = (type: string, progress: Progress, output: string | null): void => {
    const fields = JSON.stringify(progressFields(progress, answering)).slice(0, -1)
    write(type, `"response":${fields}${output === null ? '' : `,"output":${output}`}${echo}`)
  }
  return {
    begin(model: string | null): void {
      if (hasBegun) return
      hasBegun = true
      const running: Progress = { ...JUST_BEGUN, model }
      const first: Progress = background ? { ...running, status: 'queued' } : running
      show('response.created', first, '[]')
      if (background) show('response.queued', first, '[]')
      show('response.in_progress', running, '[]')
    },
    end(progress: Progress, output: string): void {
      const { failure, status } = progress
      if (client.isOpenWebUi) {
        if (failure !== null) writeAs(keptError(failure))
        const kept = keptOutput(continuedOutput(output, answering))
        return show(heardEnding(status), progress, kept)
      }
      if (failure !== null) write('error', errorFields(failure))
      show(`response.${status}`, progress, output)
    },
  }
}

/** Open WebUI keeps an image that comes as an item of a response, and shows none. */
function tellOfImages({ inbound: { client } }: Answering, { writeAs }: Writer) {
  let isTold = !client.isOpenWebUi
  return {
    ended(item: Item): void {
      if (isTold || madeImages(item).length === 0) return
      isTold = true
      writeAs(imageNotShown('Open WebUI shows images only over a connection of the type chat'))
    },
  }
}

/** Open WebUI shows a failed response, but keeps only an error that it is told as in a chat. */
function keptError(failure: Failure): SseMessage {
  return { data: JSON.stringify(errorBody(failure)) }
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
  return output === '[]' || isLonger(output, MAX_OUTPUT_BYTES) ? null : output
}

const MAX_OUTPUT_BYTES = 100_000
