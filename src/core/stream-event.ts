/**
 * Defines the events of an answer, independent of wire and dialect.
 *
 * Order: `answer-started`, then items, then exactly one of `answer-ended` and `answer-failed`. Each
 * item has one `item-started` and one `item-ended` with the same `index`, counted from 0 without
 * gaps, and its deltas come between the two. Items may overlap. `item-ended` has the complete item:
 * its text is the sum of the deltas. Every call has a `call_id` that is unique in the answer; a decoder
 * generates missing ones.
 */
import type { Item } from './item.ts'
import type { Json, JsonObject } from './json/json.ts'

export type StreamEvent =
  | AnswerStarted
  | ItemStarted
  | TextDelta
  | RefusalDelta
  | ReasoningDelta
  | ArgumentsDelta
  | AnnotationAdded
  | ItemEnded
  | AnswerEnded
  | AnswerFailed

export interface AnswerStarted {
  readonly type: 'answer-started'
  /** The upstream's id of the answer; the client gets a gateway-generated id instead. */
  readonly upstreamId: string | null
  readonly model: string | null
}

/** `item` has the fields known so far: a message its role, a call its name and `call_id`. */
export interface ItemStarted {
  readonly type: 'item-started'
  readonly index: number
  readonly item: Item
}

/** `part` is the index in the message's content. */
export interface TextDelta {
  readonly type: 'text-delta'
  readonly index: number
  readonly part: number
  readonly text: string
  readonly logprobs?: readonly Json[]
}

export interface RefusalDelta {
  readonly type: 'refusal-delta'
  readonly index: number
  readonly part: number
  readonly text: string
}

/** `channel` is the item's `summary` or its raw `content`; `part` is the index in that list. */
export interface ReasoningDelta {
  readonly type: 'reasoning-delta'
  readonly index: number
  readonly channel: 'summary' | 'content'
  readonly part: number
  readonly text: string
}

/** Arguments of a function call, or input of a custom call. */
export interface ArgumentsDelta {
  readonly type: 'arguments-delta'
  readonly index: number
  readonly text: string
}

export interface AnnotationAdded {
  readonly type: 'annotation-added'
  readonly index: number
  readonly part: number
  readonly annotation: JsonObject
}

export interface ItemEnded {
  readonly type: 'item-ended'
  readonly index: number
  readonly item: Item
}

export interface AnswerEnded {
  readonly type: 'answer-ended'
  readonly finish: AnswerFinishReason
  readonly usage: TokenUsage | null
}

/** `stop` includes an answer that ends with tool calls. */
export type AnswerFinishReason = 'stop' | 'length' | 'content-filter'

export interface AnswerFailed {
  readonly type: 'answer-failed'
  readonly failure: Failure
  readonly usage?: TokenUsage | null
}

/** An error in OpenAI's format, with its HTTP status; a stream that already started cannot send the status. */
export interface Failure {
  readonly status: number
  readonly type: string
  readonly code: string | null
  readonly message: string
  readonly param: string | null
}

/** Null if the upstream did not report the number, which differs from 0. */
export interface TokenUsage {
  readonly inputTokens: number
  readonly cachedTokens: number | null
  readonly cacheWriteTokens: number | null
  readonly outputTokens: number
  readonly reasoningTokens: number | null
  readonly totalTokens: number
  /** The gateway's estimate before the request, if it made one. */
  readonly estimatedInputTokens?: number
  /** Total tokens of the last request, if these numbers are the sum of several requests. */
  readonly newestTokens?: number
}

/** True for the event that ends an answer. */
export function isTerminalEvent(event: StreamEvent): event is AnswerEnded | AnswerFailed {
  return event.type === 'answer-ended' || event.type === 'answer-failed'
}
