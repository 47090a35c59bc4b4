/**
 * An answer of the Messages API as events, streamed or whole. Unknown events and blocks are carried
 * or passed over; a stream that ends without `message_stop` has failed, however complete it looks.
 */
import type { Failure, AnswerFinishReason, StreamEvent } from '../../../core/stream-event.ts'
import type { Message } from '../../../core/item.ts'
import {
  isObject,
  listOrEmpty,
  textOrEmpty,
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
import { mapEncodedToolNames } from '../tool-names.ts'
import { mergeUsage, parseUsage } from './usage.ts'
import { asBlock, type WireEvent, type WireEventOf } from '../api-types.ts'

export function decodeStream(_account: Account, prompt?: Prompt): Decoder {
  const state = newState(prompt)
  return {
    push: ({ event, data }) => (state.isOver ? NO_OUTPUT : read(state, event, data)),
    end: () => (state.isOver ? NO_OUTPUT : failed(state, BROKE_OFF)),
  }
}

export function decodeBody(
  body: JsonObject,
  _account: Account,
  prompt?: Prompt,
): readonly StreamEvent[] {
  const state = newState(prompt)
  if (body['type'] === 'error' || !Array.isArray(body['content'])) {
    return failed(state, isObject(body['error']) ? parseError(body['error']) : NO_MESSAGE)
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

const BROKE_OFF = createFailure(
  'upstream_broken',
  'The upstream ended its answer without a last word.',
)
const NO_JSON = createFailure('upstream_broken', 'The upstream sent something that is not JSON.')
const NO_MESSAGE = createFailure(
  'upstream_broken',
  'The upstream sent something that is no message.',
)

interface State {
  readonly answer: AnswerState
  readonly open: Map<number, BlockBuilder>
  isStarted: boolean
  isOver: boolean
  stopReason: string
  /** Why a model refused, in the provider's words. */
  explanation: string
  usage: JsonObject | null
  upstreamId: string
}

function newState(prompt: Prompt | undefined): State {
  const callIdFor = createCallIdGenerator(() => state.upstreamId, prompt?.items ?? [])
  const state: State = {
    answer: { nextIndex: 0, message: null, toolNames: mapEncodedToolNames(prompt), callIdFor },
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

function read(state: State, name: string | undefined, data: string): readonly StreamEvent[] {
  if (data === '' || data === '[DONE]') return NO_OUTPUT
  let json: unknown
  try {
    json = JSON.parse(data)
  } catch {
    return failed(state, NO_JSON)
  }
  if (!isObject(json)) return failed(state, NO_JSON)
  const type = json['type'] ?? name
  if (isKnown(type)) return handle(state, json as WireEvent, type)
  // Some proxies send their own errors without saying so.
  return isObject(json['error']) ? failed(state, parseError(json['error'])) : NO_OUTPUT
}

function isKnown(type: unknown): type is WireEvent['type'] {
  return typeof type === 'string' && Object.hasOwn(HANDLERS, type)
}

function handle(state: State, event: WireEvent, type: WireEvent['type']): readonly StreamEvent[] {
  return (HANDLERS[type] as (state: State, event: WireEvent) => readonly StreamEvent[])(
    state,
    event,
  )
}

type Handlers = {
  readonly [Type in WireEvent['type']]: (
    state: State,
    event: WireEventOf<Type>,
  ) => readonly StreamEvent[]
}

const HANDLERS: Handlers = {
  message_start(state, event) {
    const message = asBlock(event.message)
    state.usage = mergeUsage(state.usage, message['usage'])
    const { id, model, content } = message
    const events = started(state, textOrNull(id), textOrNull(model))
    return [...events, ...listOrEmpty(content).flatMap((block) => wholeBlock(state, block))]
  },

  content_block_start(state, event) {
    const index = numberOf(event.index)
    const before = [...started(state, null, null), ...(state.open.get(index)?.stop(true) ?? [])]
    const { events, block } = startBlock(state.answer, asBlock(event.content_block))
    state.open.set(index, block)
    return before.length === 0 ? events : [...before, ...events]
  },

  content_block_delta(state, event) {
    const block = state.open.get(numberOf(event.index))
    return block === undefined ? NO_OUTPUT : block.delta(asBlock(event.delta))
  },

  content_block_stop(state, event) {
    const index = numberOf(event.index)
    const block = state.open.get(index)
    state.open.delete(index)
    return block === undefined ? NO_OUTPUT : block.stop(true)
  },

  message_delta(state, event) {
    const { stop_reason, stop_details } = asBlock(event.delta)
    state.stopReason = textOrEmpty(stop_reason) || state.stopReason
    state.explanation = textOrEmpty(asBlock(stop_details)['explanation']) || state.explanation
    state.usage = mergeUsage(state.usage, event.usage)
    return NO_OUTPUT
  },

  message_stop(state) {
    const events = closed(state, true)
    state.isOver = true
    const finish = FINISH.get(state.stopReason) ?? 'stop'
    const refusal = finish === 'content-filter' ? refused(state) : NO_OUTPUT
    const usage = parseUsage(state.usage)
    return [...events, ...refusal, { type: 'answer-ended', finish: finish, usage }]
  },

  ping: () => NO_OUTPUT,

  error: (state, event) => failed(state, parseError(event.error)),
}

const FINISH: ReadonlyMap<string, AnswerFinishReason> = new Map([
  ['end_turn', 'stop'],
  ['stop_sequence', 'stop'],
  ['tool_use', 'stop'],
  ['pause_turn', 'stop'],
  ['max_tokens', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['refusal', 'content-filter'],
])

function started(state: State, upstreamId: string | null, model: string | null): StreamEvent[] {
  if (state.isStarted) return []
  state.isStarted = true
  state.upstreamId = upstreamId ?? ''
  return [{ type: 'answer-started', upstreamId, model }]
}

function wholeBlock(state: State, block: Json): readonly StreamEvent[] {
  const opened = startBlock(state.answer, asBlock(block))
  return [...opened.events, ...opened.block.stop(true)]
}

/** An answer that holds nothing but a refusal says why. It is no part of the conversation. */
function refused({ answer, explanation }: State): readonly StreamEvent[] {
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

function failed(state: State, failure: Failure): readonly StreamEvent[] {
  const start = started(state, null, null)
  const events = closed(state, false)
  state.isOver = true
  return [...start, ...events, { type: 'answer-failed', failure, usage: parseUsage(state.usage) }]
}

/** Ends what is open; what broke off is marked as incomplete. */
function closed(state: State, isWhole: boolean): readonly StreamEvent[] {
  const events = [...state.open.values()].flatMap((block) => block.stop(isWhole))
  state.open.clear()
  return [...started(state, null, null), ...events, ...endMessage(state.answer, isWhole)]
}

function numberOf(value: Json | undefined): number {
  return typeof value === 'number' ? value : 0
}

function textOrNull(value: Json | undefined): string | null {
  return typeof value === 'string' ? value : null
}
