/**
 * The interface of a provider. Each provider is one folder: `api-types.ts` types what the service
 * sends, `request/` encodes a prompt into its request, `response/` decodes its stream into events.
 * All of it is pure; `transport/` does the network I/O.
 */
import type { Failure, StreamEvent } from '../core/stream-event.ts'
import type { Part } from '../core/item.ts'
import type { JsonObject } from '../core/json/json.ts'
import type { Note } from '../core/note.ts'
import type { DialectName, Prompt } from '../core/prompt.ts'
import type { NoteTable } from './note-collector.ts'
import type { QuirkTable } from './quirks/quirk-value-kinds.ts'
import type { SseMessage, Stage } from '../core/stream/stage.ts'

export const WIRE_NAMES = ['chat', 'responses', 'anthropic', 'gemini', 'demo'] as const

export type WireName = (typeof WIRE_NAMES)[number]

/** A configured upstream: its address, its key, and the models that it serves. */
export interface Account {
  readonly name: string
  readonly wire: WireName
  readonly baseUrl: string
  readonly apiKey: string | null
  /** Patterns such as `claude-*`; the first account with a matching pattern serves the model. */
  readonly models: readonly string[]
  readonly headers: Readonly<Record<string, string>>
  /**
   * Deviations of this upstream by name: `quirks/common-quirks.ts` and the wire's own, e.g.
   * `{"contextWindow": 32768}`.
   */
  readonly quirks: JsonObject
}

export interface Provider {
  readonly wire: WireName
  readonly encode: (prompt: Prompt, account: Account) => EncodedRequest
  /** The dialect of the upstream's answer if it can be passed through unchanged, else `null`. */
  readonly getPassThroughDialect: (prompt: Prompt, account: Account) => DialectName | null
  /**
   * `prompt` is the prompt of the answer: some wires need it to map tool names of the answer back.
   */
  readonly createDecoder: (account: Account, prompt?: Prompt) => Decoder
  /** Returns the same events for an answer that was not streamed. */
  readonly decodeBody: (
    body: JsonObject,
    account: Account,
    prompt?: Prompt,
  ) => readonly StreamEvent[]
  /** Converts an error response to OpenAI's shape. `body` is JSON or raw text. */
  readonly parseErrorResponse: (status: number, body: JsonObject | string) => Failure
  /** True if the upstream rejected the request because of the reasoning in it. */
  readonly isReasoningRejection?: (failure: Failure) => boolean
  /**
   * True if the model accepts its earlier reasoning only after the same prefix that it was
   * generated on.
   */
  readonly bindsReasoningToPrefix?: (model: string) => boolean
  /**
   * Returns the minimum token count above which the upstream can be asked to compact its input,
   * e.g. 50000; `null` if this account or model cannot compact.
   */
  readonly getCompactionThreshold?: (account: Account, model: string) => number | null
  /**
   * True if the upstream ignores all items before one of its own compactions, except leading
   * instructions.
   */
  readonly ignoresItemsBeforeCompaction?: boolean
  /** True if the request has a field for a message's author name. */
  readonly acceptsAuthorNames?: (account: Account) => boolean
  readonly getMediaSupport?: (account: Account) => WireMediaSupport
  readonly createHeaders: (account: Account) => Readonly<Record<string, string>>
  /** The meaning of its notes, by code. */
  readonly notes: NoteTable
  /** The quirks of this wire, beyond those of every wire. */
  readonly quirks: QuirkTable
}

/** A wire's own rules for media. */
export interface WireMediaSupport {
  /**
   * True if the upstream loads the media of this part from its URL; if the function is missing, it
   * loads any URL.
   */
  readonly loadsUrl?: (part: Part, url: string) => boolean
  /** URL schemes that it accepts besides `http:` and `https:`, e.g. `gs://`. */
  readonly schemes?: readonly string[]
  /** The maximum base64 characters of one image, unless the account's quirks set another limit. */
  readonly maxImageChars?: number
  /** The maximum base64 characters of all media of a request. */
  readonly maxRequestChars?: number
}

/**
 * A decoder serves one answer. `end()` is called when the upstream's body is over: it must end the
 * open items and yield the one terminal event, unless that was yielded before. After a terminal
 * event it yields nothing. It never throws, whatever an upstream sends.
 */
export type Decoder = Stage<SseMessage, StreamEvent>

export interface EncodedRequest {
  /** Appended to the account's `baseUrl`, with a leading slash, e.g. `/messages`. */
  readonly path: string
  readonly body: JsonObject
  /** The client's own bytes, if they are equivalent to `body`; then they are sent instead. */
  readonly bytes?: Uint8Array
  readonly notes: readonly Note[]
  /** Sent in addition to the headers of every request to the account. */
  readonly headers?: Readonly<Record<string, string>>
  /** Stop strings that are not sent upstream; the gateway ends the answer at them. */
  readonly unsentStopSequences?: readonly string[]
}
