/** Defines the interface of a client dialect: parse requests, render answers, patch pass-through answers. */
import type { StreamEvent, Failure } from '../stream-event.ts'
import type { JsonObject } from '../json/json.ts'
import type { Outcome } from '../fold-answer-outcome.ts'
import type { DialectName } from '../prompt.ts'
import type { SseMessage, TextDeltaPattern } from '../stream/stage.ts'
import type { ClientRequest } from '../client-request.ts'

/** Facts about the answer that a dialect needs to render it. */
export interface AnswerContext {
  readonly clientRequest: ClientRequest
  /** 20 characters; a dialect adds its prefix, e.g. `resp_`. */
  readonly turnId: string
  readonly createdAtMs: number
  /** True if the turn is stored; the answer reports it as `store`. */
  readonly stored: boolean
}

export interface Dialect {
  readonly name: DialectName
  /** Throws a GatewayError with status, code and param for invalid input. Without `bytes`, `body` was built by the gateway. */
  readonly parse: (body: JsonObject, bytes?: () => Uint8Array) => ClientRequest
  readonly createRenderer: (context: AnswerContext) => AnswerRenderer
  readonly renderBody: (outcome: Outcome, context: AnswerContext, endedAtMs?: number) => JsonObject
  /** Creates a patcher for answers of an upstream of the same API. */
  readonly createPassThroughPatcher: (context: AnswerContext) => PassThroughPatcher
}

/**
 * Renders events for a client. `push` returns everything but the ending; `end` returns the ending,
 * `[DONE]` included, and is called once the turn is stored. The output is a valid stream for any
 * events: the renderer closes open items and adds missing ones.
 */
export interface AnswerRenderer {
  readonly push: (event: StreamEvent) => readonly SseMessage[]
  readonly end: (outcome: Outcome, endedAtMs: number) => readonly SseMessage[]
}

/**
 * Replaces ids and echoed fields in an answer that is otherwise forwarded unchanged, as the same
 * objects. The patcher receives every message of the stream in order and checks `event` or a
 * substring first, so that it parses few messages.
 */
export interface PassThroughPatcher {
  readonly patchMessage: (message: SseMessage) => SseMessage
  /**
   * Called before `patchMessage`: adds the generated `call_id` to calls that have none. `events` are
   * the decoded events of the message.
   */
  readonly addMissingCallIds?: (message: SseMessage, events: readonly StreamEvent[]) => SseMessage
  /** Matches messages that only append text; these are forwarded without being parsed. */
  readonly textDeltaPattern: TextDeltaPattern
  /** True for the message before which the stream waits until the turn is stored. */
  readonly startsEnding: (message: SseMessage) => boolean
  /** `outcome` is the decoded `body`. */
  readonly patchBody: (body: JsonObject, outcome?: Outcome) => JsonObject
  /** Renders the ending of a broken stream: its error in this dialect, `[DONE]` included. */
  readonly renderFailure: (failure: Failure) => readonly SseMessage[]
}
