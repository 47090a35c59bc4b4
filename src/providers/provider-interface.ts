/**
 * The interface of a provider. Each provider is a folder: `api-types.ts` has the types of the
 * service's data, `request/` encodes a prompt as a request, and `response/` decodes the answer into
 * events. Providers do no I/O; `src/upstream/transport/` sends the requests.
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
  /**
   * Patterns such as `claude-*`. A model is served by the first account with a matching pattern.
   */
  readonly models: readonly string[]
  readonly headers: Readonly<Record<string, string>>
  /**
   * The quirks of this upstream by name, those of every wire (`quirks/common-quirks.ts`) and those
   * of its wire, e.g. `{"contextWindow": 32768}`.
   */
  readonly quirks: JsonObject
}

export interface Provider {
  readonly wire: WireName
  readonly encode: (prompt: Prompt, account: Account) => EncodedRequest
  /**
   * Returns the dialect whose clients can be sent the upstream's answer unchanged, otherwise
   * `null`.
   */
  readonly getPassThroughDialect: (prompt: Prompt, account: Account) => DialectName | null
  /**
   * Creates the decoder of an answer. `prompt` is the prompt that it answers: some wires need it to
   * map the names of tools back.
   */
  readonly createDecoder: (account: Account, prompt?: Prompt) => Decoder
  /** Decodes a non-streamed answer into the same events. */
  readonly decodeBody: (
    body: JsonObject,
    account: Account,
    prompt?: Prompt,
  ) => readonly StreamEvent[]
  /** Converts an error response to OpenAI's shape. `body` is JSON or raw text. */
  readonly parseErrorResponse: (status: number, body: JsonObject | string) => Failure
  /** Returns true if the upstream rejected the request because of the reasoning in it. */
  readonly isReasoningRejection?: (failure: Failure) => boolean
  /**
   * Returns true if the model accepts its earlier reasoning only after the same items that preceded
   * it originally.
   */
  readonly bindsReasoningToPrefix?: (model: string) => boolean
  /**
   * Returns the lowest token count above which the upstream can be requested to compact its input,
   * e.g. 50000; `null` if this account or model cannot compact.
   */
  readonly getCompactionThreshold?: (account: Account, model: string) => number | null
  /**
   * True if the upstream ignores all items before one of its own compactions, except leading
   * instructions.
   */
  readonly ignoresItemsBeforeCompaction?: boolean
  /** Returns true if the request has a field for a message's author name. */
  readonly acceptsAuthorNames?: (account: Account) => boolean
  readonly getMediaSupport?: (account: Account) => WireMediaSupport
  readonly createHeaders: (account: Account) => Readonly<Record<string, string>>
  /** The notes that the provider writes, by code. */
  readonly notes: NoteTable
  /** The quirks of this wire, in addition to those of every wire. */
  readonly quirks: QuirkTable
}

/** A wire's own rules for media. */
export interface WireMediaSupport {
  /**
   * Returns true if the upstream loads the medium of this part from its URL. If the function is
   * missing, the upstream loads any URL.
   */
  readonly loadsUrl?: (part: Part, url: string) => boolean
  /** URL schemes that the upstream accepts in addition to `http:` and `https:`, e.g. `gs://`. */
  readonly schemes?: readonly string[]
  /** The maximum base64 characters of one image, unless the account's quirks set another limit. */
  readonly maxImageChars?: number
  /** The maximum base64 characters of all media of a request. */
  readonly maxRequestChars?: number
}

/**
 * Decodes one answer. `end()` is called at the end of the upstream's body: it must end the open
 * items and yield the terminal event, unless that was yielded before. After a terminal event a
 * decoder yields nothing. It never throws, whatever an upstream sends.
 */
export type Decoder = Stage<SseMessage, StreamEvent>

export interface EncodedRequest {
  /** The path that is appended to the account's `baseUrl`, e.g. `/messages`. */
  readonly path: string
  readonly body: JsonObject
  /** The client's own bytes, if they are equivalent to `body`. They are then sent instead of it. */
  readonly bytes?: Uint8Array
  readonly notes: readonly Note[]
  /** Headers that are sent in addition to those of every request to the account. */
  readonly headers?: Readonly<Record<string, string>>
  /** Stop sequences that are not sent upstream. The gateway ends the answer at them. */
  readonly unsentStopSequences?: readonly string[]
}
