/**
 * The client's side of the hourglass. A dialect is one folder: `parse.ts` turns a request body into
 * an Inbound, `stream.ts` and `whole.ts` render an answer, `retouch.ts` mends an answer that an
 * upstream of the same language gave. All of it is pure.
 */
import type { Client } from '../conversation/client.ts'
import type { Failure, StreamEvent } from '../conversation/event.ts'
import type { Item } from '../conversation/item.ts'
import type { JsonObject } from '../conversation/json.ts'
import type { Outcome } from '../conversation/outcome.ts'
import type { Wishes } from '../conversation/policy.ts'
import type { DialectName, Params } from '../conversation/prompt.ts'
import type { SseMessage, WordsAlone } from '../stream/stage.ts'

/** One request, understood. */
export interface Inbound {
  readonly dialect: DialectName
  readonly stream: boolean
  readonly items: readonly Item[]
  /** As the client gave them, where `items` are not that any more. */
  readonly given?: readonly Item[]
  readonly params: Params
  readonly memory: Memory
  /** What the request itself says of how much of the conversation the model is given. */
  readonly wishes: Wishes | null
  /** `false` only prepares what is asked next: no model is asked, and the answer is empty. */
  readonly generates: boolean
  /** `null` in a dialect that has no words for it. */
  readonly context: ContextRules | null
  /** Who asks; a dialect itself knows nothing of that. */
  readonly client: Client
  readonly body: JsonObject
  /** Those of `body`: the client's own, or made once, if anybody asks. */
  readonly bytes: () => Uint8Array
}

/** What the client asks the gateway, not the model, to do. */
export interface Memory {
  /** `null`: the client did not say, and the dialect's default stands in `storeByDefault`. */
  readonly store: boolean | null
  readonly storeByDefault: boolean
  readonly previousResponseId: string | null
  readonly conversationId: string | null
  readonly background: boolean
  readonly metadata: JsonObject
}

/** What to do when the conversation grows too long for the model. */
export interface ContextRules {
  /**
   * To put a summary in the place of the conversation above so many tokens; `window` is for as many
   * as the model can take, `null` for never.
   */
  readonly compactAbove: number | 'window' | null
  /** To do so at once. */
  readonly compactNow: boolean
  /** Whether the oldest rounds may be left out of what does not fit. */
  readonly truncation: 'auto' | 'disabled'
}

/** What an answer is called and what it echoes. */
export interface Answering {
  readonly inbound: Inbound
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
  readonly parse: (body: JsonObject, bytes?: () => Uint8Array) => Inbound
  readonly stream: (answering: Answering) => Renderer
  readonly whole: (outcome: Outcome, answering: Answering, endedAtMs?: number) => JsonObject
  /** Mends answers of an upstream that speaks this dialect itself. */
  readonly retouch: (answering: Answering) => Retouch
}

/**
 * Renders events for a client. `push` yields everything but the ending; `end` yields the ending,
 * `[DONE]` included, and is called when the outcome is safe. Whatever it is given, what it renders
 * is a legal stream: it closes what is open and invents what is missing.
 */
export interface Renderer {
  readonly push: (event: StreamEvent) => readonly SseMessage[]
  readonly end: (outcome: Outcome, endedAtMs: number) => readonly SseMessage[]
}

/**
 * Changes only what must be ours: ids and echoed fields. Everything else stays as it came, by
 * identity. It sees every message of the stream in order, and parses only those that it must:
 * a cheap look at `event` or at the text tells most of them.
 */
export interface Retouch {
  readonly message: (message: SseMessage) => SseMessage
  /**
   * Before that: tells calls that came without an id the one that was invented for them. `events`
   * is what was understood of the message.
   */
  readonly calls?: (message: SseMessage, events: readonly StreamEvent[]) => SseMessage
  /** Which messages only say more, and change nothing else however many they are. */
  readonly wordsAlone: WordsAlone
  /** From this message on the stream waits for the outcome to be safe. */
  readonly isEnding: (message: SseMessage) => boolean
  /** `outcome` is what was understood of it. */
  readonly whole: (body: JsonObject, outcome?: Outcome) => JsonObject
  /** The ending of a stream that broke: its error in this dialect, `[DONE]` included. */
  readonly broken: (failure: Failure) => readonly SseMessage[]
}
