/**
 * Decodes an answer of the Messages API into events, streamed or not. Unknown blocks become opaque
 * items, and unknown events are ignored. A stream that ends without `message_stop` is reported as a
 * failure, even if the answer looks complete.
 */
import type { Failure, AnswerFinishReason, StreamEvent } from '../../../core/stream-event.ts'
import type { Message } from '../../../core/item.ts'
import {
  isObject,
  listOrEmpty,
  textOrEmpty,
  tryParseJsonObject,
  type Json,
  type JsonObject,
} from '../../../core/json/json.ts'
import type { Prompt } from '../../../core/prompt.ts'
import { createFailure } from '../../../core/errors/gateway-error.ts'
import { NO_OUTPUT } from '../../../core/stream/stage.ts'
import { createCallIdGenerator } from '../../response/generate-call-ids.ts'
import type { Account, Decoder } from '../../provider-interface.ts'
import { startBlock } from './choose-block-decoder.ts'
import { endMessage } from './decode-text.ts'
import { parseError } from '../parse-errors.ts'
import type { AnswerState, BlockBuilder } from './decoding-state.ts'
import { encodeToolName } from '../tool-names.ts'
import { mapEncodedToolNames } from '../../response/map-encoded-tool-names.ts'
import { mergeUsage, parseUsage } from './usage.ts'
import { asBlock, type WireEvent, type WireEventOf } from '../api-types.ts'

export function decodeStream(_account: Account, prompt?: Prompt): Decoder {
  const state = createState(prompt)
  return {
    push: ({ event, data }) => (state.isOver ? NO_OUTPUT : decodeMessage(state, event, data)),
    end: () => (state.isOver ? NO_OUTPUT : failAnswer(state, BROKE_OFF)),
  }
}

export function decodeBody(
  body: JsonObject,
  _account: Account,
  prompt?: Prompt,
): readonly StreamEvent[] {
  const state = createState(prompt)
  if (body['type'] === 'error' || !Array.isArray(body['content'])) {
    return failAnswer(state, isObject(body['error']) ? parseError(body['error']) : NO_MESSAGE)
  }
  const { stop_reason, stop_details, usage } = body
  return [
    ...HANDLERS.message_start(state, { type: 'message_start', message: body }),
    ...HANDLERS.message_delta(state, {
      type: 'message_delta',
      delta: { stop_reason: stop_reason ?? null, stop_details: stop_details ?? null },
      usage: usage ?? null,
    }),
    ...HANDLERS.message_stop(state, { type: 'message_stop' }),
  ]
}

const BROKE_OFF = createBroken('The upstream ended its answer without a last word.')
const INVALID_JSON = createBroken('The upstream sent something that is not JSON.')
const NO_MESSAGE = createBroken('The upstream sent something that is no message.')

function createBroken(message: string): Failure {
  return createFailure('upstream_broken', message)
}

interface DecoderState {
  readonly answer: AnswerState
  readonly open: Map<number, BlockBuilder>
  isStarted: boolean
  isOver: boolean
  stopReason: string
  /** The provider's explanation of why it refuses to answer; empty without one. */
  explanation: string
  usage: JsonObject | null
  upstreamId: string
}

function createState(prompt: Prompt | undefined): DecoderState {
  const toolNames = mapEncodedToolNames(prompt, encodeToolName)
  const chooseCallId = createCallIdGenerator(() => state.upstreamId, prompt?.items ?? [])
  const state: DecoderState = {
    answer: { nextIndex: 0, message: null, toolNames, chooseCallId },
    open: new Map(),
    isStarted: false,
    isOver: false,
    stopReason: '',
    explanation: '',
    usage: null,
    upstreamId: '',
  }
  return state
}

function decodeMessage(
  state: DecoderState,
  name: string | undefined,
  data: string,
): readonly StreamEvent[] {
  if (data === '' || data === '[DONE]') return NO_OUTPUT
  const json = tryParseJsonObject(data)
  if (json === null) return failAnswer(state, INVALID_JSON)
  const type = json['type'] ?? name
  if (isKnownType(type)) return handleEvent(state, json as WireEvent, type)
  // Some proxies send their own errors without a `type`.
  return isObject(json['error']) ? failAnswer(state, parseError(json['error'])) : NO_OUTPUT
}

function isKnownType(type: unknown): type is WireEvent['type'] {
  return typeof type === 'string' && Object.hasOwn(HANDLERS, type)
}

function handleEvent(
  state: DecoderState,
  event: WireEvent,
  type: WireEvent['type'],
): readonly StreamEvent[] {
  const decode = HANDLERS[type] as (state: DecoderState, event: WireEvent) => readonly StreamEvent[]
  return decode(state, event)
}

type Handlers = {
  readonly [Type in WireEvent['type']]: (
    state: DecoderState,
    event: WireEventOf<Type>,
  ) => readonly StreamEvent[]
}

const HANDLERS: Handlers = {
  message_start(state, event) {
    const message = asBlock(event.message)
    state.usage = mergeUsage(state.usage, message['usage'])
    const { id, model, content } = message
    const events = startAnswer(state, textOrNull(id), textOrNull(model))
    for (const block of listOrEmpty(content)) events.push(...decodeCompleteBlock(state, block))
    return events
  },

  content_block_start(state, event) {
    const index = numberOrZero(event.index)
    const earlierEvents = [...startAnswer(state), ...(state.open.get(index)?.end(true) ?? [])]
    const { events, block } = startBlock(state.answer, asBlock(event.content_block))
    state.open.set(index, block)
    return earlierEvents.length === 0 ? events : [...earlierEvents, ...events]
  },

  content_block_delta(state, event) {
    const block = state.open.get(numberOrZero(event.index))
    return block === undefined ? NO_OUTPUT : block.addDelta(asBlock(event.delta))
  },

  content_block_stop(state, event) {
    const index = numberOrZero(event.index)
    const block = state.open.get(index)
    state.open.delete(index)
    return block === undefined ? NO_OUTPUT : block.end(true)
  },

  message_delta(state, event) {
    const { stop_reason, stop_details } = asBlock(event.delta)
    state.stopReason = textOrEmpty(stop_reason) || state.stopReason
    state.explanation = textOrEmpty(asBlock(stop_details)['explanation']) || state.explanation
    state.usage = mergeUsage(state.usage, event.usage)
    return NO_OUTPUT
  },

  message_stop(state) {
    const events = closeOpenBlocks(state, true)
    state.isOver = true
    const finish = FINISH_REASONS.get(state.stopReason) ?? 'stop'
    const refusal = finish === 'content-filter' ? emitRefusal(state) : NO_OUTPUT
    const usage = parseUsage(state.usage)
    return [...events, ...refusal, { type: 'answer-ended', finish, usage }]
  },

  ping: () => NO_OUTPUT,

  error: (state, event) => failAnswer(state, parseError(event.error)),
}

const FINISH_REASONS: ReadonlyMap<string, AnswerFinishReason> = new Map([
  ['end_turn', 'stop'],
  ['stop_sequence', 'stop'],
  ['tool_use', 'stop'],
  ['pause_turn', 'stop'],
  ['max_tokens', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['refusal', 'content-filter'],
])

function startAnswer(
  state: DecoderState,
  upstreamId: string | null = null,
  model: string | null = null,
): StreamEvent[] {
  if (state.isStarted) return []
  state.isStarted = true
  state.upstreamId = upstreamId ?? ''
  return [{ type: 'answer-started', upstreamId, model }]
}

function decodeCompleteBlock(state: DecoderState, block: Json): readonly StreamEvent[] {
  const started = startBlock(state.answer, asBlock(block))
  return [...started.events, ...started.block.end(true)]
}

/**
 * Emits the explanation of a refusal as a message, if the answer has no other content. The next
 * request leaves this message out (`native.anthropic.refused`).
 */
function emitRefusal({ answer, explanation }: DecoderState): readonly StreamEvent[] {
  if (answer.nextIndex > 0 || explanation === '') return NO_OUTPUT
  const index = answer.nextIndex++
  const item: Message = { type: 'message', role: 'assistant', content: [] }
  const native = { anthropic: { refused: true } }
  const content = [{ type: 'refusal', refusal: explanation }] as const
  return [
    { type: 'item-started', index, item },
    { type: 'refusal-delta', index, part: 0, text: explanation },
    { type: 'item-ended', index, item: { ...item, content, native } },
  ]
}

function failAnswer(state: DecoderState, failure: Failure): readonly StreamEvent[] {
  const start = startAnswer(state)
  const events = closeOpenBlocks(state, false)
  state.isOver = true
  return [...start, ...events, { type: 'answer-failed', failure, usage: parseUsage(state.usage) }]
}

/** Ends the open blocks and the open message. If the stream broke off, marks them as incomplete. */
function closeOpenBlocks(state: DecoderState, isComplete: boolean): readonly StreamEvent[] {
  const events = [...state.open.values()].flatMap((block) => block.end(isComplete))
  state.open.clear()
  return [...startAnswer(state), ...events, ...endMessage(state.answer, isComplete)]
}

function numberOrZero(value: Json | undefined): number {
  return typeof value === 'number' ? value : 0
}

function textOrNull(value: Json | undefined): string | null {
  return typeof value === 'string' ? value : null
}
