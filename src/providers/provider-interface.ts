/**
 * The upstream side of the hourglass. A provider is one folder: `wire.ts` types what the service
 * sends, `encode.ts` turns a prompt into its request, `decode.ts` its stream into events. All of it
 * is pure; `transport/` does the calling.
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

/** One way to an upstream: where it is, whose key, which models it serves. */
export interface Account {
  readonly name: string
  readonly wire: WireName
  readonly baseUrl: string
  readonly apiKey: string | null
  /** Patterns with `*`; the first account that matches serves the model. */
  readonly models: readonly string[]
  readonly headers: Readonly<Record<string, string>>
  /** What is special about this upstream, by name: `quirks/common-quirks.ts`, and the wire's own. */
  readonly quirks: JsonObject
}

export interface Provider {
  readonly wire: WireName
  readonly encode: (prompt: Prompt, account: Account) => EncodedRequest
  /** The dialect that the answer comes in, if it can be passed on as it is. */
  readonly getPassThroughDialect: (prompt: Prompt, account: Account) => DialectName | null
  /** `prompt` is what was asked: some wires need it to tell what an answer's names stand for. */
  readonly createDecoder: (account: Account, prompt?: Prompt) => Decoder
  /** The same events from an answer that was not streamed. */
  readonly decodeBody: (
    body: JsonObject,
    account: Account,
    prompt?: Prompt,
  ) => readonly StreamEvent[]
  /** What an answer with an error status means, in OpenAI's shape. `body` is JSON or raw text. */
  readonly parseErrorResponse: (status: number, body: JsonObject | string) => Failure
  /** Whether it says that the upstream does not take the reasoning in the request. */
  readonly isReasoningRejection?: (failure: Failure) => boolean
  /** Whether the model takes its reasoning back only behind the prefix that it was made on. */
  readonly bindsReasoningToPrefix?: (model: string) => boolean
  /**
   * The least number of tokens above which it can be asked to compact what it is sent; `null` for who
   * cannot, or cannot for this model.
   */
  readonly getCompactionThreshold?: (account: Account, model: string) => number | null
  /** Whether it reads nothing in front of a compaction of its own but the instructions at the head. */
  readonly ignoresItemsBeforeCompaction?: boolean
  /** Whether there is a field for who says a message. */
  readonly acceptsAuthorNames?: (account: Account) => boolean
  readonly getMediaSupport?: (account: Account) => WireMediaSupport
  readonly createHeaders: (account: Account) => Readonly<Record<string, string>>
  /** What its notes mean, by their code. */
  readonly notes: NoteTable
  /** What can be said of an upstream with this wire, beyond what can be said of any. */
  readonly quirks: QuirkTable
}

/** What a wire takes of media, where it has rules of its own. */
export interface WireMediaSupport {
  /** Whether it loads the medium that this part names by an address; if not said, whatever it is. */
  readonly loadsUrl?: (part: Part, url: string) => boolean
  /** What its addresses may begin with, beside those of the web. */
  readonly schemes?: readonly string[]
  /** How much base64 one image may be, unless the account says so. */
  readonly maxImageChars?: number
  /** The same of all media of a request. */
  readonly maxRequestChars?: number
}

/**
 * A decoder is made anew for every answer. `end()` is called when the upstream's body is over: it
 * must close what is open and yield the one terminal event, if it has not been yielded yet. After
 * a terminal event it yields nothing. It never throws on what an upstream may send.
 */
export type Decoder = Stage<SseMessage, StreamEvent>

export interface EncodedRequest {
  /** Behind the account's `baseUrl`, with a leading slash. */
  readonly path: string
  readonly body: JsonObject
  /** The client's own, if they say just that: then they are sent. */
  readonly bytes?: Uint8Array
  readonly notes: readonly Note[]
  /** Beside those that every request to the account has. */
  readonly headers?: Readonly<Record<string, string>>
  /** Stop strings that the upstream is not told; the answer is ended at them here. */
  readonly unsentStopSequences?: readonly string[]
}
