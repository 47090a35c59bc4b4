/** Helpers for the tests of the chat dialect. */
import { expect } from 'vitest'
import type { ClientRequest } from '../../../src/core/client-request.ts'
import { createOutcomeCollector, type Outcome } from '../../../src/core/collect-answer-outcome.ts'
import { GatewayError } from '../../../src/core/errors/gateway-error.ts'
import type { Item } from '../../../src/core/item.ts'
import type { JsonObject } from '../../../src/core/json/json.ts'
import type { AnswerContext } from '../../../src/core/ports/dialect-interface.ts'
import type { StreamEvent } from '../../../src/core/stream-event.ts'
import type { SseMessage } from '../../../src/core/stream/sse.ts'
import { chatDialect } from '../../../src/dialects/chat/chat-dialect.ts'

export const TURN = '01KQZ3V8M6T2X9R4B7C9'
export const HI = [{ role: 'user', content: 'hi' }]

export function parse(body: JsonObject): ClientRequest {
  return chatDialect.parse(body)
}

export function parseToItems(...messages: readonly JsonObject[]): readonly Item[] {
  return parse({ model: 'm', messages }).items
}

/** Returns the failure with which an invalid request is rejected. */
export function readFailure(body: JsonObject) {
  try {
    parse(body)
  } catch (error) {
    expect(error).toBeInstanceOf(GatewayError)
    return (error as GatewayError).failure
  }
  throw new Error('This request is accepted.')
}

export function createAnswerContext(body: JsonObject = {}, stored = true): AnswerContext {
  const clientRequest = parse({ model: 'requested', messages: HI, ...body })
  return { clientRequest, turnId: TURN, createdAtMs: 1_700_000_000_999, isStored: stored }
}

export function foldOutcome(events: readonly StreamEvent[]): Outcome {
  const fold = createOutcomeCollector()
  for (const event of events) fold.push(event)
  return fold.currentOutcome()
}

/** Renders events to the messages that a client gets. */
export function renderStream(
  events: readonly StreamEvent[],
  body: JsonObject = {},
): readonly SseMessage[] {
  const renderer = chatDialect.createRenderer(createAnswerContext(body))
  const messages = events.flatMap((event) => [...renderer.push(event)])
  return [...messages, ...renderer.end(foldOutcome(events), 1_700_000_001_000)]
}

export interface Chunk extends JsonObject {
  readonly choices: readonly {
    readonly index: number
    readonly delta: JsonObject
    readonly finish_reason: string | null
    readonly logprobs?: JsonObject | null
  }[]
}

/** Renders events to chunks. Checks `[DONE]` at the end and leaves it out. */
export function renderChunks(
  events: readonly StreamEvent[],
  body: JsonObject = {},
): readonly Chunk[] {
  const messages = renderStream(events, body)
  expect(messages.at(-1)).toEqual({ data: '[DONE]' })
  return messages.slice(0, -1).map(({ event, data }) => {
    expect(event).toBeUndefined()
    return JSON.parse(data) as Chunk
  })
}

/** Renders events to deltas, without the first, which has the role, and the last, which is empty. */
export function renderDeltas(events: readonly StreamEvent[], body: JsonObject = {}) {
  return renderChunks(events, body)
    .flatMap(({ choices }) => choices.map(({ delta }) => delta))
    .slice(1, -1)
}

export const STARTED: StreamEvent = { type: 'answer-started', upstreamId: 'up', model: 'made-by' }
export const ENDED: StreamEvent = {
  type: 'answer-ended',
  finish: 'stop',
  usage: {
    inputTokens: 5,
    cachedTokens: 3,
    cacheWriteTokens: null,
    outputTokens: 2,
    reasoningTokens: 1,
    totalTokens: 7,
  },
}

/** Creates the events of an answer, with one delta for each text of an item. */
export function answer(...items: readonly Item[]): readonly StreamEvent[] {
  return [STARTED, ...items.flatMap(createItemEvents), ENDED]
}

export function createItemEvents(item: Item, index: number): readonly StreamEvent[] {
  return [
    { type: 'item-started', index, item: emptyItem(item) },
    ...createDeltaEvents(item, index),
    { type: 'item-ended', index, item },
  ]
}

function emptyItem(item: Item): Item {
  switch (item.type) {
    case 'message':
      return { ...item, content: [] }
    case 'reasoning':
      return { type: 'reasoning', summary: [] }
    case 'function_call':
      return { ...item, arguments: '' }
    case 'custom_tool_call':
      return { ...item, input: '' }
    default:
      return item
  }
}

function createDeltaEvents(item: Item, index: number): readonly StreamEvent[] {
  switch (item.type) {
    case 'message':
      return item.content.flatMap((part, partIndex): readonly StreamEvent[] => {
        if (part.type === 'refusal') {
          return [{ type: 'refusal-delta', index, part: partIndex, text: part.refusal }]
        }
        if (part.type !== 'output_text') return []
        const { text, annotations = [], logprobs } = part
        return [
          {
            type: 'text-delta',
            index,
            part: partIndex,
            text,
            ...(logprobs === undefined ? {} : { logprobs }),
          },
          ...annotations.map((annotation): StreamEvent => ({
            type: 'annotation-added',
            index,
            part: partIndex,
            annotation,
          })),
        ]
      })
    case 'reasoning':
      return [
        ...item.summary.map(({ text }, part): StreamEvent => ({
          type: 'reasoning-delta',
          index,
          channel: 'summary',
          part,
          text,
        })),
        ...(item.content ?? []).map(({ text }, part): StreamEvent => ({
          type: 'reasoning-delta',
          index,
          channel: 'content',
          part,
          text,
        })),
      ]
    case 'function_call':
      return [{ type: 'arguments-delta', index, text: item.arguments }]
    case 'custom_tool_call':
      return [{ type: 'arguments-delta', index, text: item.input }]
    default:
      return []
  }
}

export function assistant(...texts: readonly string[]): Item {
  return {
    type: 'message',
    role: 'assistant',
    content: texts.map((text) => ({ type: 'output_text', text })),
  }
}

export function call(call_id: string, name = 'look', args = '{}'): Item {
  return { type: 'function_call', call_id, name, arguments: args }
}

export function reasoning(...texts: readonly string[]): Item {
  return { type: 'reasoning', summary: texts.map((text) => ({ type: 'summary_text', text })) }
}
