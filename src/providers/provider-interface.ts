/**
 * The interface of a provider: the code for one upstream API. In the folder of a provider,
 * `request/` encodes a prompt as a request, and `response/` decodes the answer into events.
 * Providers do no I/O; `src/upstream/transport/` sends the requests.
 */
import type { Part } from '../core/item.ts'
import type { JsonObject } from '../core/json/json.ts'
import type { Note } from '../core/note.ts'
import type { DialectName, Prompt } from '../core/prompt.ts'
import type { Failure, StreamEvent } from '../core/stream-event.ts'
import type { SseMessage } from '../core/stream/sse.ts'
import type { StreamStage } from '../core/stream/stream-stage.ts'
import type { NoteTable } from './note-collector.ts'
import type { QuirkTable } from './quirks/quirk-value-kinds.ts'

export const WIRE_NAMES = ['chat', 'responses', 'anthropic', 'gemini', 'demo'] as const

export type WireName = (typeof WIRE_NAMES)[number]

/** A configured upstream, with its address, its key and the models that it serves. */
export interface Account {
  readonly name: string
  readonly wire: WireName
  readonly baseUrl: string
  readonly apiKey: string | null
  /**
   * Patterns of model names, e.g. `claude-*`. A model is served by the first account with a
   * matching pattern.
   */
  readonly models: readonly string[]
  readonly headers: Readonly<Record<string, string>>
  /** The quirks of the upstream: settings for how it deviates, e.g. `{"contextWindow": 32768}`. */
  readonly quirks: JsonObject
}

export interface Provider {
  readonly wire: WireName
  readonly encode: (prompt: Prompt, account: Account) => EncodedRequest
  /**
   * Returns the dialect in which the upstream answers, if its answer can be passed on to clients
   * unchanged; otherwise `null`.
   */
  readonly getPassThroughDialect: (prompt: Prompt, account: Account) => DialectName | null
  /**
   * Creates the decoder of an answer to `prompt`. Some decoders need the prompt to restore the
   * names of tools.
   */
  readonly createDecoder: (account: Account, prompt?: Prompt) => Decoder
  /** Decodes a non-streamed answer into the events that its stream would have. */
  readonly decodeBody: (
    body: JsonObject,
    account: Account,
    prompt?: Prompt,
  ) => readonly StreamEvent[]
  /** Converts an error response to OpenAI's format. `body` is parsed JSON, or text. */
  readonly parseErrorResponse: (status: number, body: JsonObject | string) => Failure
  /** Returns true if the upstream rejected a request because of the reasoning in it. */
  readonly isReasoningRejection?: (failure: Failure) => boolean
  /**
   * Lists parameters with which the model does not reason, or as little as it can, e.g. for a title: the best
   * first, and others for the case that the upstream rejects it. Empty if the model does not reason by default,
   * or if nothing is known about it.
   */
  readonly listTaskParameters?: (account: Account, model: string) => readonly TaskParameter[]
  /** Returns true if the model shows a summary of its reasoning, but only on request. */
  readonly hasReasoningSummaries?: (account: Account, model: string) => boolean
  /**
   * Returns true if the model accepts its earlier reasoning only after the same items that preceded
   * it when it was generated.
   */
  readonly bindsReasoningToPrefix?: (model: string) => boolean
  /**
   * Returns the smallest threshold, e.g. 50000 tokens, at which the upstream can be asked to
   * compact a conversation; `null` if this account or model cannot compact.
   */
  readonly getMinCompactionTokens?: (account: Account, model: string) => number | null
  /**
   * True if the upstream ignores the items before one of its own compactions, except the
   * instructions at the start.
   */
  readonly ignoresItemsBeforeCompaction?: boolean
  /** Returns true if the upstream accepts the author name of a message. */
  readonly acceptsAuthorNames?: (account: Account) => boolean
  readonly getMediaSupport?: (account: Account) => WireMediaSupport
  readonly createHeaders: (account: Account) => Readonly<Record<string, string>>
  /** The notes that the provider writes, by code. */
  readonly notes: NoteTable
  /**
   * The quirks that only accounts of this provider have; `quirks/common-quirks.ts` has the others.
   */
  readonly quirks: QuirkTable
}

/** A parameter that limits the reasoning of a model. */
export type TaskParameter =
  | { readonly field: 'reasoning.effort'; readonly value: string }
  | { readonly field: 'chat_template_kwargs'; readonly value: JsonObject }

/** The media that an upstream accepts. */
export interface WireMediaSupport {
  /**
   * Returns true if the upstream loads the medium of this part from its URL. Without this function,
   * it loads any URL.
   */
  readonly loadsUrl?: (part: Part, url: string) => boolean
  /** URL schemes that the upstream accepts besides `http:` and `https:`, e.g. `gs://`. */
  readonly schemes?: readonly string[]
  /** The maximum base64 characters of one image. A quirk of the account can override it. */
  readonly maxImageChars?: number
  /** The maximum base64 characters of all media of a request. */
  readonly maxRequestChars?: number
}

/**
 * A decoder of one answer. `end()` is called after the last message of the upstream: it ends the
 * open items and returns the terminal event, unless that was returned before. A decoder never
 * throws, whatever an upstream sends, and returns nothing after the terminal event.
 */
export type Decoder = StreamStage<SseMessage, StreamEvent>

export interface EncodedRequest {
  /** The path after the account's `baseUrl`, e.g. `/messages`. */
  readonly path: string
  readonly body: JsonObject
  /**
   * The client's own bytes, if they mean the same as `body`. They are then sent instead of `body`.
   */
  readonly bytes?: Uint8Array
  readonly notes: readonly Note[]
  /** Headers in addition to those of the account. */
  readonly headers?: Readonly<Record<string, string>>
  /** Stop sequences that the upstream does not get. The gateway itself ends the answer at them. */
  readonly unsentStopSequences?: readonly string[]
}
