/**
 * Decodes an answer of the Messages API, streamed or not, into events. Unknown blocks become opaque
 * items; unknown events are ignored. A stream without `message_stop` is a failure, even if the
 * answer looks complete.
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
import { NO_OUTPUT } from '../../../core/stream/stream-stage.ts'
import { createCallIdGenerator } from '../../response/generate-call-ids.ts'
import type { Account, Decoder } from '../../provider-interface.ts'
import { startBlock } from './choose-block-decoder.ts'
import { endMessage } from './decode-text.ts'
import { parseError } from '../parse-errors.ts'
import type { AnswerState, BlockBuilder } from './decoding-state.ts'
import { encodeToolName } from '../encode-tool-name.ts'
import { mapEncodedToolNames } from '../../response/map-encoded-tool-names.ts'
import { mergeUsage, parseUsage } from './parse-usage.ts'
import { objectOrEmpty } from '../api-types.ts'

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
    const { error } = body
    return failAnswer(state, isObject(error) ? parseError(error, null) : NO_MESSAGE)
  }
  return [
    ...HANDLERS.message_start(state, { message: body }),
    ...HANDLERS.message_delta(state, { delta: body }),
    ...HANDLERS.message_stop(state),
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
  /** The explanation that Anthropic sends if it refuses to answer; empty without one. */
  explanation: string
  usage: JsonObject | null
  upstreamId: string
}

function createState(prompt: Prompt | undefined): DecoderState {
  const toolNames = mapEncodedToolNames(prompt, encodeToolName)
  const chooseCallId = createCallIdGenerator(() => state.upstreamId, prompt?.items ?? [])
  const state: DecoderState = {
    answer: { nextIndex: 0, openMessage: null, toolNames, createCallId: chooseCallId },
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
  const handle = HANDLERS_BY_TYPE.get(json['type'] ?? name)
  if (handle !== undefined) return handle(state, json)
  // Proxies may send an error without the `type` field of Anthropic's events.
  return isObject(json['error']) ? failAnswer(state, parseError(json['error'], null)) : NO_OUTPUT
}

type Handler = (state: DecoderState, event: JsonObject) => readonly StreamEvent[]

/** Handlers by event name. Events without a handler are ignored. */
const HANDLERS = {
  message_start(state, { message }) {
    const { id, model, content, usage } = objectOrEmpty(message)
    state.usage = mergeUsage(state.usage, usage)
    const events = startAnswer(state, textOrNull(id), textOrNull(model))
    for (const block of listOrEmpty(content)) events.push(...decodeCompleteBlock(state, block))
    return events
  },

  content_block_start(state, { index: blockIndex, content_block }) {
    const index = numberOrZero(blockIndex)
    const earlierEvents = [...startAnswer(state), ...(state.open.get(index)?.end(true) ?? [])]
    const { events, builder } = startBlock(state.answer, objectOrEmpty(content_block))
    state.open.set(index, builder)
    return earlierEvents.length === 0 ? events : [...earlierEvents, ...events]
  },

  content_block_delta(state, { index, delta }) {
    const block = state.open.get(numberOrZero(index))
    return block === undefined ? NO_OUTPUT : block.addDelta(objectOrEmpty(delta))
  },

  content_block_stop(state, { index: blockIndex }) {
    const index = numberOrZero(blockIndex)
    const block = state.open.get(index)
    state.open.delete(index)
    return block === undefined ? NO_OUTPUT : block.end(true)
  },

  message_delta(state, { delta, usage }) {
    const { stop_reason, stop_details } = objectOrEmpty(delta)
    state.stopReason = textOrEmpty(stop_reason) || state.stopReason
    state.explanation = textOrEmpty(objectOrEmpty(stop_details)['explanation']) || state.explanation
    state.usage = mergeUsage(state.usage, usage)
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

  error: (state, { error }) => failAnswer(state, parseError(error, null)),
} satisfies Readonly<Record<string, Handler>>

const HANDLERS_BY_TYPE = new Map<unknown, Handler>(Object.entries(HANDLERS))

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
  const started = startBlock(state.answer, objectOrEmpty(block))
  return [...started.events, ...started.builder.end(true)]
}

/**
 * Emits the explanation of a refusal as a message, if the answer has no other content. The message
 * is marked `native.anthropic.refused`, so that later requests leave it out.
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

/** Ends the open blocks and the open message. Marks them as incomplete if the stream broke off. */
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
