/**
 * A Responses stream as events of the waist.
 *
 * Items are told apart by `output_index`, since ids may change from event to event. Where the
 * finished item contradicts what was said of it, the finished item stands. An `error` event and the
 * `response.failed` behind it make one failure; a stream that just stops makes one, too.
 */
import type { StreamEvent } from '../../../core/stream-event.ts'
import {
  isObject,
  type Json,
  type JsonObject,
  tryParseJsonObject,
} from '../../../core/json/json.ts'
import { createFailure } from '../../../core/errors/gateway-error.ts'
import { NO_OUTPUT } from '../../../core/stream/stage.ts'
import type { Decoder } from '../../provider-interface.ts'
import { createAnswerEventEmitter, type AnswerEventEmitter } from './answer-event-emitter.ts'
import { parseError } from '../parse-errors.ts'
import type { DeltaChannel, ItemBuilder } from './item-builder.ts'
import type { ResponsesEventHandlers } from '../api-types.ts'

export function decodeStream(): Decoder {
  const answer = createAnswerEventEmitter()
  return {
    push({ event: name, data }) {
      if (answer.isOver() || data === '[DONE]') return NO_OUTPUT
      const event = tryParseJsonObject(data)
      const type = event?.['type'] ?? name
      if (event === null) answer.fail(NOT_JSON)
      else if (typeof type === 'string') BY_NAME.get(type)?.(answer, event)
      return answer.taken()
    },
    end() {
      if (!answer.isOver()) answer.fail(CUT_OFF)
      return answer.taken()
    },
  }
}

/** An answer in one piece is the last event of a stream without those before. */
export function decodeBody(body: JsonObject): readonly StreamEvent[] {
  const answer = createAnswerEventEmitter()
  if (Array.isArray(body['output']) || isObject(body['error'])) answer.finish(body)
  else answer.fail(NO_RESPONSE)
  return answer.taken()
}

const NOT_JSON = createFailure('upstream_broken', 'The upstream sent an event that is not JSON.')
const NO_RESPONSE = createFailure(
  'upstream_broken',
  'The upstream sent something that is no response.',
)
const NO_OUTCOME = createFailure(
  'upstream_broken',
  'The upstream ended its answer without the response that it came to.',
)
const CUT_OFF = createFailure(
  'upstream_broken',
  'The upstream broke off before its answer was over.',
)

type Handler = (answer: AnswerEventEmitter, event: JsonObject) => void

const HANDLERS: ResponsesEventHandlers<AnswerEventEmitter> = {
  'response.created': begun,
  'response.queued': begun,
  'response.in_progress': begun,
  'response.completed': over('completed'),
  'response.incomplete': over('incomplete'),
  'response.failed': over('failed'),
  error: (answer, event) => answer.tell(parseError(errorIn(event), null)),

  'response.output_item.added': (answer, event) => {
    const { output_index: at, item } = event
    if (isObject(item)) answer.open(typeof at === 'number' ? at : answer.latest() + 1, item)
  },
  'response.output_item.done': (answer, event) => {
    if (isObject(event['item'])) answer.end(placeOf(answer, event), event['item'])
  },

  'response.content_part.added': ignored,
  'response.content_part.done': partDone,
  'response.output_text.delta': delta('text'),
  'response.output_text.done': done('text', 'text'),
  'response.output_text.annotation.added': (answer, event) => {
    const { annotation, content_index: part } = event
    if (isObject(annotation)) itemFor(answer, event, MESSAGE)?.annotate(indexOf(part), annotation)
  },
  'response.refusal.delta': delta('refusal'),
  'response.refusal.done': done('refusal', 'refusal'),

  'response.reasoning_summary_part.added': ignored,
  'response.reasoning_summary_part.done': partDone,
  'response.reasoning_summary_text.delta': delta('summary'),
  'response.reasoning_summary_text.done': done('summary', 'text'),
  'response.reasoning_text.delta': delta('content'),
  'response.reasoning_text.done': done('content', 'text'),
  'response.reasoning.delta': delta('content'),
  'response.reasoning.done': done('content', 'text'),

  'response.function_call_arguments.delta': delta('arguments'),
  'response.function_call_arguments.done': done('arguments', 'arguments'),
  'response.custom_tool_call_input.delta': delta('arguments'),
  'response.custom_tool_call_input.done': done('arguments', 'input'),

  // What a hosted tool does on the way is told by its finished item.
  'response.web_search_call.in_progress': ignored,
  'response.web_search_call.searching': ignored,
  'response.web_search_call.completed': ignored,
  'response.file_search_call.in_progress': ignored,
  'response.file_search_call.searching': ignored,
  'response.file_search_call.completed': ignored,
  'response.code_interpreter_call.in_progress': ignored,
  'response.code_interpreter_call.interpreting': ignored,
  'response.code_interpreter_call.completed': ignored,
  'response.code_interpreter_call_code.delta': ignored,
  'response.code_interpreter_call_code.done': ignored,
  'response.image_generation_call.in_progress': ignored,
  'response.image_generation_call.generating': ignored,
  'response.image_generation_call.partial_image': ignored,
  'response.image_generation_call.completed': ignored,
  'response.mcp_list_tools.in_progress': ignored,
  'response.mcp_list_tools.completed': ignored,
  'response.mcp_list_tools.failed': ignored,
  'response.mcp_call.in_progress': ignored,
  'response.mcp_call.completed': ignored,
  'response.mcp_call.failed': ignored,
  'response.mcp_call_arguments.delta': ignored,
  'response.mcp_call_arguments.done': ignored,
  'response.shell_call_command.added': ignored,
  'response.shell_call_command.delta': ignored,
  'response.shell_call_command.done': ignored,
  'response.shell_call_output_content.delta': ignored,
  'response.shell_call_output_content.done': ignored,
  'response.compaction.compacting': ignored,
  'response.audio.delta': ignored,
  'response.audio.done': ignored,
  'response.audio.transcript.delta': ignored,
  'response.audio.transcript.done': ignored,
}

/** A name that nobody knows is not found here, and the event is left out. */
const BY_NAME: ReadonlyMap<string, Handler> = new Map(Object.entries(HANDLERS))

function ignored(): void {}

function begun(answer: AnswerEventEmitter, event: JsonObject): void {
  answer.begin(event['response'])
}

/** The response may know better than the event that it did not come to a good end. */
function over(status: 'completed' | 'incomplete' | 'failed'): Handler {
  return (answer, { response }) => {
    if (!isObject(response)) answer.fail(NO_OUTCOME)
    else answer.finish(status === 'completed' ? { status, ...response } : { ...response, status })
  }
}

/** Nested as OpenAI sends it, or flat as OpenAI documents it. */
function errorIn(event: JsonObject): JsonObject {
  if (isObject(event['error'])) return event['error']
  const { code, message, param } = event
  return { code, message, param }
}

const MESSAGE: JsonObject = { type: 'message', role: 'assistant', content: [] }
const REASONING: JsonObject = { type: 'reasoning', summary: [] }

/** What an item must be that was never announced; a call cannot be without a name. */
const BY_CHANNEL: Readonly<Record<DeltaChannel, JsonObject | null>> = {
  text: MESSAGE,
  refusal: MESSAGE,
  summary: REASONING,
  content: REASONING,
  arguments: null,
}

function delta(channel: DeltaChannel): Handler {
  return (answer, event) => {
    const { delta: text, logprobs } = event
    if (typeof text !== 'string') return
    const told = Array.isArray(logprobs) && logprobs.length > 0 ? (logprobs as Json[]) : undefined
    itemFor(answer, event, BY_CHANNEL[channel])?.say(channel, partOf(channel, event), text, told)
  }
}

function done(channel: DeltaChannel, field: string): Handler {
  return (answer, event) => {
    const text = event[field]
    if (typeof text !== 'string') return
    itemFor(answer, event, BY_CHANNEL[channel])?.sayRest(channel, partOf(channel, event), text)
  }
}

const CHANNELS: ReadonlyMap<unknown, DeltaChannel> = new Map<unknown, DeltaChannel>([
  ['output_text', 'text'],
  ['refusal', 'refusal'],
  ['reasoning_text', 'content'],
  ['summary_text', 'summary'],
])

function partDone(answer: AnswerEventEmitter, event: JsonObject): void {
  const { part } = event
  if (!isObject(part)) return
  const channel = CHANNELS.get(part['type'])
  if (channel === undefined) return
  done(channel, 'text')(answer, { ...event, text: part['text'] ?? part['refusal'] })
}

function itemFor(
  answer: AnswerEventEmitter,
  event: JsonObject,
  stub: JsonObject | null,
): ItemBuilder | null {
  const at = placeOf(answer, event)
  return answer.item(at) ?? (stub === null ? null : answer.open(at, stub))
}

function placeOf(answer: AnswerEventEmitter, { output_index: at }: JsonObject): number {
  return typeof at === 'number' ? at : answer.latest()
}

function partOf(channel: DeltaChannel, event: JsonObject): number {
  if (channel === 'arguments') return 0
  return indexOf(channel === 'summary' ? event['summary_index'] : event['content_index'])
}

/** Counted from 0, and never so high that it could be meant to hurt. */
function indexOf(value: Json | undefined): number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value < 10_000
    ? value
    : 0
}
