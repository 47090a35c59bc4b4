/**
 * Defines the interface of a client dialect, which parses requests, renders answers, and patches
 * answers that pass through.
 */
import type { ClientRequest } from '../client-request.ts'
import type { Outcome } from '../collect-answer-outcome.ts'
import type { JsonObject } from '../json/json.ts'
import type { DialectName } from '../prompt.ts'
import type { StreamEvent, Failure } from '../stream-event.ts'
import type { SseMessage } from '../stream/sse.ts'
import type { TextDeltaMessagePattern } from '../stream/text-delta-message-pattern.ts'

/** The data of an answer that a dialect needs to render it. */
export interface AnswerContext {
  readonly clientRequest: ClientRequest
  /** The id of the answer without the dialect's prefix, e.g. `resp_`; 20 characters. */
  readonly turnId: string
  readonly createdAtMs: number
  /** True if the answer is stored; a response reports this as `store`. */
  readonly isStored: boolean
  /**
   * True if an answer that is not stored has the gateway's id nevertheless, because the gateway can find it: the next
   * request of a WebSocket may continue it, or other requests with the same `Idempotency-Key` receive it too.
   */
  readonly needsGatewayId?: boolean
  /**
   * The client's fields that the model was not given as requested, e.g. `tools[0]` or `tool_choice`. A response does
   * not list such a tool, nor a tool choice that did not apply. Undefined before the request is planned.
   */
  readonly lostFields?: readonly string[]
  /** True if a response that passes through may lack required fields, which are then added. */
  readonly completesResponse?: boolean
  /**
   * True when the answer may name its turn, because that is stored. Undefined if no reference may be written beside
   * visible reasoning.
   */
  readonly isReferenceReady?: () => boolean
}

export interface Dialect {
  readonly name: DialectName
  /** Parses a request body, or throws a GatewayError with a `param`. `bytes` is missing if the gateway built the body. */
  readonly parse: (body: JsonObject, bytes?: () => Uint8Array) => ClientRequest
  readonly createRenderer: (context: AnswerContext) => AnswerRenderer
  readonly renderBody: (outcome: Outcome, context: AnswerContext, endedAtMs?: number) => JsonObject
  /** Creates the patcher for an answer of an upstream with the same API as the client. */
  readonly createPassThroughPatcher: (context: AnswerContext) => PassThroughPatcher
}

/**
 * Renders the events of an answer for a client. `push` returns the messages of one event. `end` returns
 * the last messages, including `[DONE]`, and is called when the turn is stored. For any events, the output
 * is a valid stream: the renderer closes open items and adds missing ones.
 */
export interface AnswerRenderer {
  readonly push: (event: StreamEvent) => readonly SseMessage[]
  readonly end: (outcome: Outcome, endedAtMs: number) => readonly SseMessage[]
}

/**
 * Replaces ids and the copies of request fields in an answer that is otherwise forwarded unchanged. The
 * patcher receives every message of the stream in order. It checks `event` or searches for a substring
 * first, so that it has to parse only few messages.
 */
export interface PassThroughPatcher {
  readonly patchMessage: (message: SseMessage) => SseMessage
  /**
   * Adds the generated `call_id` to calls without one. Called before `patchMessage`, with the events
   * that were decoded from the message.
   */
  readonly addMissingCallIds?: (message: SseMessage, events: readonly StreamEvent[]) => SseMessage
  /** Matches messages that only append text and can be forwarded without being parsed. */
  readonly textDeltaPattern: TextDeltaMessagePattern
  /** True for the first message of the ending. The stream waits until the turn is stored before it sends this message. */
  readonly startsEnding: (message: SseMessage) => boolean
  /** Patches a non-streamed answer, of which `outcome` is the decoded form. */
  readonly patchBody: (body: JsonObject, outcome?: Outcome) => JsonObject
  /** Renders the last messages of a broken stream: the error, and `[DONE]` if the dialect has it. */
  readonly renderFailure: (failure: Failure) => readonly SseMessage[]
}
