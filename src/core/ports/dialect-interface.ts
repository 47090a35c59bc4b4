/** Defines the interface of a client dialect: parse requests, render answers, patch pass-through answers. */
import type { StreamEvent, Failure } from '../stream-event.ts'
import type { JsonObject } from '../json/json.ts'
import type { Outcome } from '../fold-answer-outcome.ts'
import type { DialectName } from '../prompt.ts'
import type { SseMessage, TextDeltaPattern } from '../stream/stage.ts'
import type { ClientRequest } from '../client-request.ts'

/** What an answer is called and what it echoes. */
export interface AnswerContext {
  readonly clientRequest: ClientRequest
  /** 20 characters; a dialect puts its own prefix in front. */
  readonly turnId: string
  readonly createdAtMs: number
  /** Whether the turn is kept, which is what `store` in the answer says. */
  readonly stored: boolean
}

export interface Dialect {
  readonly name: DialectName
  /**
   * Throws a GatewayError with status, code and param for whatever a client may send. Without `bytes`,
   * nobody has written it yet.
   */
  readonly parse: (body: JsonObject, bytes?: () => Uint8Array) => ClientRequest
  readonly createRenderer: (answering: AnswerContext) => AnswerRenderer
  readonly renderBody: (
    outcome: Outcome,
    answering: AnswerContext,
    endedAtMs?: number,
  ) => JsonObject
  /** Mends answers of an upstream that speaks this dialect itself. */
  readonly createPassThroughPatcher: (answering: AnswerContext) => PassThroughPatcher
}

/**
 * Renders events for a client. `push` yields everything but the ending; `end` yields the ending,
 * `[DONE]` included, and is called when the outcome is safe. Whatever it is given, what it renders
 * is a legal stream: it closes what is open and invents what is missing.
 */
export interface AnswerRenderer {
  readonly push: (event: StreamEvent) => readonly SseMessage[]
  readonly end: (outcome: Outcome, endedAtMs: number) => readonly SseMessage[]
}

/**
 * Changes only what must be ours: ids and echoed fields. Everything else stays as it came, by
 * identity. It sees every message of the stream in order, and parses only those that it must:
 * a cheap look at `event` or at the text tells most of them.
 */
export interface PassThroughPatcher {
  readonly patchMessage: (message: SseMessage) => SseMessage
  /**
   * Before that: tells calls that came without an id the one that was invented for them. `events`
   * is what was understood of the message.
   */
  readonly addMissingCallIds?: (message: SseMessage, events: readonly StreamEvent[]) => SseMessage
  /** Which messages only say more, and change nothing else however many they are. */
  readonly textDeltaPattern: TextDeltaPattern
  /** From this message on the stream waits for the outcome to be safe. */
  readonly startsEnding: (message: SseMessage) => boolean
  /** `outcome` is what was understood of it. */
  readonly patchBody: (body: JsonObject, outcome?: Outcome) => JsonObject
  /** The ending of a stream that broke: its error in this dialect, `[DONE]` included. */
  readonly renderFailure: (failure: Failure) => readonly SseMessage[]
}
