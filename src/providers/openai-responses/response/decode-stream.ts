/**
 * Decodes a Responses answer, streamed or not, into events.
 *
 * Items are identified by `output_index`, because their ids may differ between events. When an item
 * is finished, its final form replaces the content of its deltas. An `error` event and the
 * `response.failed` event after it are one failure. A stream without a final event is a failure
 * too.
 */
import type { StreamEvent } from '../../../core/stream-event.ts'
import {
  isObject,
  type Json,
  type JsonObject,
  tryParseJsonObject,
} from '../../../core/json/json.ts'
import { createFailure } from '../../../core/errors/gateway-error.ts'
import { NO_OUTPUT } from '../../../core/stream/stream-stage.ts'
import type { Decoder } from '../../provider-interface.ts'
import { createOutputItemsDecoder, type OutputItemsDecoder } from './output-items-decoder.ts'
import { parseError } from '../parse-errors.ts'
import type { DeltaChannel, ItemBuilder } from './item-builder.ts'
import type { ResponsesEventHandlers } from '../responses-event-handlers.ts'

export function decodeStream(): Decoder {
  const answer = createOutputItemsDecoder()
  return {
    push({ event: name, data }) {
      if (answer.isOver() || data === '[DONE]') return NO_OUTPUT
      const event = tryParseJsonObject(data)
      const type = event?.['type'] ?? name
      if (event === null) answer.failAnswer(NOT_JSON)
      else if (typeof type === 'string') HANDLERS_BY_NAME.get(type)?.(answer, event)
      return answer.takeEvents()
    },
    end() {
      if (!answer.isOver()) answer.failAnswer(CUT_OFF)
      return answer.takeEvents()
    },
  }
}

/**
 * Decodes a non-streamed body, which has the format of the response object in a stream's last
 * event.
 */
export function decodeBody(body: JsonObject): readonly StreamEvent[] {
  const answer = createOutputItemsDecoder()
  if (Array.isArray(body['output']) || isObject(body['error'])) answer.finishAnswer(body)
  else answer.failAnswer(NO_RESPONSE)
  return answer.takeEvents()
}

const NOT_JSON = createFailure('upstream_broken', 'The upstream sent an event that is not JSON.')
const NO_RESPONSE = createFailure(
  'upstream_broken',
  'The upstream sent something that is no response.',
)
const NO_FINAL_RESPONSE = createFailure(
  'upstream_broken',
  'The upstream ended its answer without the response that it came to.',
)
const CUT_OFF = createFailure(
  'upstream_broken',
  'The upstream broke off before its answer was over.',
)

type Handler = (answer: OutputItemsDecoder, event: JsonObject) => void

const HANDLERS: ResponsesEventHandlers<OutputItemsDecoder> = {
  'response.created': handleStart,
  'response.queued': handleStart,
  'response.in_progress': handleStart,
  'response.completed': handleEnd('completed'),
  'response.incomplete': handleEnd('incomplete'),
  'response.failed': handleEnd('failed'),
  error: (answer, event) => answer.recordError(parseError(readError(event), null)),

  'response.output_item.added': (answer, event) => {
    const { output_index: index, item } = event
    if (isObject(item))
      answer.openItem(typeof index === 'number' ? index : answer.getLatestIndex() + 1, item)
  },
  'response.output_item.done': (answer, event) => {
    if (isObject(event['item'])) answer.endItem(readOutputIndex(answer, event), event['item'])
  },

  'response.content_part.done': handlePartDone,
  'response.output_text.delta': handleDelta('text'),
  'response.output_text.done': handleFullText('text', 'text'),
  'response.output_text.annotation.added': (answer, event) => {
    const { annotation, content_index: part } = event
    if (isObject(annotation))
      findOrOpenItem(answer, event, EMPTY_MESSAGE)?.addAnnotation(readIndex(part), annotation)
  },
  'response.refusal.delta': handleDelta('refusal'),
  'response.refusal.done': handleFullText('refusal', 'refusal'),

  'response.reasoning_summary_part.done': handlePartDone,
  'response.reasoning_summary_text.delta': handleDelta('summary'),
  'response.reasoning_summary_text.done': handleFullText('summary', 'text'),
  'response.reasoning_text.delta': handleDelta('content'),
  'response.reasoning_text.done': handleFullText('content', 'text'),
  'response.reasoning.delta': handleDelta('content'),
  'response.reasoning.done': handleFullText('content', 'text'),

  'response.function_call_arguments.delta': handleDelta('arguments'),
  'response.function_call_arguments.done': handleFullText('arguments', 'arguments'),
  'response.custom_tool_call_input.delta': handleDelta('arguments'),
  'response.custom_tool_call_input.done': handleFullText('arguments', 'input'),
}

/** Handlers by event name. Events without a handler are ignored. */
const HANDLERS_BY_NAME: ReadonlyMap<string, Handler> = new Map(Object.entries(HANDLERS))

function handleStart(answer: OutputItemsDecoder, event: JsonObject): void {
  answer.startAnswer(event['response'])
}

/**
 * Returns the handler of a final event. `response.completed` may contain a failed response, so the
 * `status` in its response takes precedence; the names of the other events determine the status
 * themselves.
 */
function handleEnd(status: 'completed' | 'incomplete' | 'failed'): Handler {
  return (answer, { response }) => {
    if (!isObject(response)) answer.failAnswer(NO_FINAL_RESPONSE)
    else
      answer.finishAnswer(
        status === 'completed' ? { status, ...response } : { ...response, status },
      )
  }
}

/**
 * Returns the error of an event. OpenAI documents `{ code, … }`, but sends `{ error: { code, … }
 * }`.
 */
function readError(event: JsonObject): JsonObject {
  if (isObject(event['error'])) return event['error']
  const { code, message, param } = event
  return { code, message, param }
}

const EMPTY_MESSAGE: JsonObject = { type: 'message', role: 'assistant', content: [] }
const EMPTY_REASONING: JsonObject = { type: 'reasoning', summary: [] }

/**
 * The item that the first delta starts if no event announced it; null for a tool call, because its
 * name is unknown.
 */
const EMPTY_ITEM_BY_CHANNEL: Readonly<Record<DeltaChannel, JsonObject | null>> = {
  text: EMPTY_MESSAGE,
  refusal: EMPTY_MESSAGE,
  summary: EMPTY_REASONING,
  content: EMPTY_REASONING,
  arguments: null,
}

function handleDelta(channel: DeltaChannel): Handler {
  return (answer, event) => {
    const { delta: text, logprobs } = event
    if (typeof text !== 'string') return
    const tokens = Array.isArray(logprobs) && logprobs.length > 0 ? (logprobs as Json[]) : undefined
    findOrOpenItem(answer, event, EMPTY_ITEM_BY_CHANNEL[channel])?.addText(
      channel,
      readPartIndex(channel, event),
      text,
      tokens,
    )
  }
}

function handleFullText(channel: DeltaChannel, field: string): Handler {
  return (answer, event) => {
    const text = event[field]
    if (typeof text !== 'string') return
    findOrOpenItem(answer, event, EMPTY_ITEM_BY_CHANNEL[channel])?.addRemainingText(
      channel,
      readPartIndex(channel, event),
      text,
    )
  }
}

const CHANNEL_BY_PART_TYPE: ReadonlyMap<unknown, DeltaChannel> = new Map<unknown, DeltaChannel>([
  ['output_text', 'text'],
  ['refusal', 'refusal'],
  ['reasoning_text', 'content'],
  ['summary_text', 'summary'],
])

function handlePartDone(answer: OutputItemsDecoder, event: JsonObject): void {
  const { part } = event
  if (!isObject(part)) return
  const channel = CHANNEL_BY_PART_TYPE.get(part['type'])
  if (channel === undefined) return
  handleFullText(channel, 'text')(answer, { ...event, text: part['text'] ?? part['refusal'] })
}

function findOrOpenItem(
  answer: OutputItemsDecoder,
  event: JsonObject,
  emptyItem: JsonObject | null,
): ItemBuilder | null {
  const index = readOutputIndex(answer, event)
  return answer.getItem(index) ?? (emptyItem === null ? null : answer.openItem(index, emptyItem))
}

function readOutputIndex(answer: OutputItemsDecoder, { output_index: index }: JsonObject): number {
  return typeof index === 'number' ? index : answer.getLatestIndex()
}

function readPartIndex(channel: DeltaChannel, event: JsonObject): number {
  if (channel === 'arguments') return 0
  return readIndex(channel === 'summary' ? event['summary_index'] : event['content_index'])
}

/**
 * Returns an index; 0 if it is invalid. The maximum of 10,000 prevents that an upstream fills the
 * memory with a huge list.
 */
function readIndex(value: Json | undefined): number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value < 10_000
    ? value
    : 0
}
