/**
 * Defines the events of an answer's stream, independent of the upstream's and the client's API.
 *
 * Order: `answer-started`, then items, then either `answer-ended` or `answer-failed`. Each item has one
 * `item-started` and one `item-ended` with the same `index` (0, 1, 2, …), and its deltas come between
 * them. Items may overlap. `item-ended` has the complete item, whose text is that of all deltas. It may be
 * followed by `item-amended`, directly before the end of the answer. Every
 * call has a `call_id` that is unique in the answer, generated if the upstream sent none.
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
  | ItemAmended
  | AnswerEnded
  | AnswerFailed

export interface AnswerStarted {
  readonly type: 'answer-started'
  /** The upstream's id of the answer. The client is sent a gateway-generated id instead. */
  readonly upstreamId: string | null
  readonly model: string | null
}

/** The start of an item, with the fields known so far: the role of a message, the name and `call_id` of a call. */
export interface ItemStarted {
  readonly type: 'item-started'
  readonly index: number
  readonly item: Item
}

/** New text of a message; `part` is the index in the message's content. */
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

/** New text in the list `summary` or `content` of a reasoning item; `part` is the index in that list. */
export interface ReasoningDelta {
  readonly type: 'reasoning-delta'
  readonly index: number
  readonly channel: 'summary' | 'content'
  readonly part: number
  readonly text: string
}

/** New text in the arguments of a function call or in the input of a custom call. */
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

/**
 * Replaces an item that has ended by one with the same texts: some upstreams send the encrypted content of reasoning
 * only at the end of the answer.
 */
export interface ItemAmended {
  readonly type: 'item-amended'
  readonly index: number
  readonly item: Item
}

export interface AnswerEnded {
  readonly type: 'answer-ended'
  readonly finish: AnswerFinishReason
  readonly usage: TokenUsage | null
}

/** The reason why the answer ended; `stop` also after tool calls. */
export type AnswerFinishReason = 'stop' | 'length' | 'content-filter'

export interface AnswerFailed {
  readonly type: 'answer-failed'
  readonly failure: Failure
  readonly usage?: TokenUsage | null
}

/** An error in OpenAI's format, and the HTTP status that it has if the answer has not started yet. */
export interface Failure {
  readonly status: number
  readonly type: string
  readonly code: string | null
  readonly message: string
  readonly param: string | null
}

/** Token counts of an answer; null for a number that the upstream did not report. */
export interface TokenUsage {
  readonly inputTokens: number
  readonly cachedTokens: number | null
  readonly cacheWriteTokens: number | null
  readonly outputTokens: number
  readonly reasoningTokens: number | null
  readonly totalTokens: number
  /** The gateway's own estimate of the input, if it made one before the request. */
  readonly estimatedInputTokens?: number
  /** Total tokens of the last request alone, if the other numbers are the sum of several requests. */
  readonly newestTokens?: number
}

/** True for the last event of an answer. */
export function isTerminalEvent(event: StreamEvent): event is AnswerEnded | AnswerFailed {
  return event.type === 'answer-ended' || event.type === 'answer-failed'
}
