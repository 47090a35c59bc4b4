/** What the tests of this dialect share. */
import { expect } from 'vitest'
import type { StreamEvent } from '../../../src/core/stream-event.ts'
import type { Item } from '../../../src/core/item.ts'
import type { JsonObject } from '../../../src/core/json/json.ts'
import { foldAnswerOutcome, type Outcome } from '../../../src/core/fold-answer-outcome.ts'
import { chatDialect } from '../../../src/dialects/chat/chat-dialect.ts'
import type { AnswerContext } from '../../../src/core/ports/dialect-interface.ts'
import type { ClientRequest } from '../../../src/core/client-request.ts'
import { GatewayError } from '../../../src/core/errors/gateway-error.ts'
import type { SseMessage } from '../../../src/core/stream/stage.ts'

export const TURN = '01KQZ3V8M6T2X9R4B7C9'
export const HI = [{ role: 'user', content: 'hi' }]

export function parse(body: JsonObject): ClientRequest {
  return chatDialect.parse(body)
}

export function itemsOf(...messages: readonly JsonObject[]): readonly Item[] {
  return parse({ model: 'm', messages }).items
}

/** What a bad request is told. */
export function refusal(body: JsonObject) {
  try {
    parse(body)
  } catch (error) {
    expect(error).toBeInstanceOf(GatewayError)
    return (error as GatewayError).failure
  }
  throw new Error('This request is accepted.')
}

export function answering(body: JsonObject = {}, stored = true): AnswerContext {
  const clientRequest = parse({ model: 'asked', messages: HI, ...body })
  return { clientRequest, turnId: TURN, createdAtMs: 1_700_000_000_999, stored }
}

export function outcomeOf(events: readonly StreamEvent[]): Outcome {
  const fold = foldAnswerOutcome()
  for (const event of events) fold.push(event)
  return fold.currentOutcome()
}

/** Everything that a client is sent. */
export function rendered(
  events: readonly StreamEvent[],
  body: JsonObject = {},
): readonly SseMessage[] {
  const renderer = chatDialect.createRenderer(answering(body))
  const messages = events.flatMap((event) => [...renderer.push(event)])
  return [...messages, ...renderer.end(outcomeOf(events), 1_700_000_001_000)]
}

export interface Chunk extends JsonObject {
  readonly choices: readonly {
    readonly index: number
    readonly delta: JsonObject
    readonly finish_reason: string | null
    readonly logprobs?: JsonObject | null
  }[]
}

/** The chunks that a client is sent, without the mark at the end, which is checked here. */
export function chunks(events: readonly StreamEvent[], body: JsonObject = {}): readonly Chunk[] {
  const messages = rendered(events, body)
  expect(messages.at(-1)).toEqual({ data: '[DONE]' })
  return messages.slice(0, -1).map(({ event, data }) => {
    expect(event).toBeUndefined()
    return JSON.parse(data) as Chunk
  })
}

/** The deltas, without the first, which says only who speaks, and the last, which says nothing. */
export function deltas(events: readonly StreamEvent[], body: JsonObject = {}) {
  return chunks(events, body)
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

/** An answer in which each item is told by one delta for each of its texts. */
export function tell(...items: readonly Item[]): readonly StreamEvent[] {
  return [STARTED, ...items.flatMap(tellItem), ENDED]
}

export function tellItem(item: Item, index: number): readonly StreamEvent[] {
  return [
    { type: 'item-started', index, item: begun(item) },
    ...deltasOf(item, index),
    { type: 'item-ended', index, item },
  ]
}

function begun(item: Item): Item {
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

function deltasOf(item: Item, index: number): readonly StreamEvent[] {
  switch (item.type) {
    case 'message':
      return item.content.flatMap((part, at): readonly StreamEvent[] => {
        if (part.type === 'refusal') {
          return [{ type: 'refusal-delta', index, part: at, text: part.refusal }]
        }
        if (part.type !== 'output_text') return []
        const { text, annotations = [], logprobs } = part
        return [
          {
            type: 'text-delta',
            index,
            part: at,
            text,
            ...(logprobs === undefined ? {} : { logprobs }),
          },
          ...annotations.map((annotation): StreamEvent => ({
            type: 'annotation-added',
            index,
            part: at,
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

export function said(...texts: readonly string[]): Item {
  return {
    type: 'message',
    role: 'assistant',
    content: texts.map((text) => ({ type: 'output_text', text })),
  }
}

export function call(call_id: string, name = 'look', args = '{}'): Item {
  return { type: 'function_call', call_id, name, arguments: args }
}

export function summary(...texts: readonly string[]): Item {
  return { type: 'reasoning', summary: texts.map((text) => ({ type: 'summary_text', text })) }
}
