/**
 * What a model says, free of any wire: the events between a provider's stream and a client's.
 *
 * Order of an answer: `answer-started`, then items, then exactly one of `answer-ended` and
 * `answer-failed`. Each item has one `item-started` and one `item-ended` with the same `index`,
 * counted from 0 without a gap; its deltas lie between the two. Items may overlap. The item of
 * `item-ended` is whole and final: its text is the sum of its deltas. Every call has a `call_id`,
 * and none that another call of the answer has: a decoder invents what an upstream leaves out.
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
  /** As the upstream named it; the gateway names its own. */
  readonly upstreamId: string | null
  readonly model: string | null
}

/** As much of the item as is known: a message its role, a call its name and call_id. */
export interface ItemStarted {
  readonly type: 'item-started'
  readonly index: number
  readonly item: Item
}

/** `part` is the place in the message's content, counted from 0. */
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

/** `channel` tells the item's `summary` from its raw `content`; `part` is the place in there. */
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

/** `stop` covers an ending with tool calls as well: the items say whether there are any. */
export type AnswerFinishReason = 'stop' | 'length' | 'content-filter'

export interface AnswerFailed {
  readonly type: 'answer-failed'
  readonly failure: Failure
  readonly usage?: TokenUsage | null
}

/** An error in OpenAI's shape, with the HTTP status it has or would have had. */
export interface Failure {
  readonly status: number
  readonly type: string
  readonly code: string | null
  readonly message: string
  readonly param: string | null
}

/** `null` where the upstream did not say, which is not the same as 0. */
export interface TokenUsage {
  readonly inputTokens: number
  readonly cachedTokens: number | null
  readonly cacheWriteTokens: number | null
  readonly outputTokens: number
  readonly reasoningTokens: number | null
  readonly totalTokens: number
  /** What the gateway had taken the input for, where it had reason to. */
  readonly estimatedInputTokens?: number
  /** What the last request alone came to, where it is the sum of several. */
  readonly newestTokens?: number
}

type Terminal = Extract<StreamEvent, { readonly type: 'answer-ended' | 'answer-failed' }>

/** Whether an answer is over with it. */
export function isTerminalEvent(event: StreamEvent): event is Terminal {
  return event.type === 'answer-ended' || event.type === 'answer-failed'
}
