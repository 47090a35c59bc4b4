/**
 * Types of the answers of Chat Completions services, with only the fields that the decoder reads.
 * Every field is typed as JSON and checked by its reader, because services deviate from the
 * documented format. https://platform.openai.com/docs/api-reference/chat-streaming
 */
import type { Json, JsonObject } from '../../core/json/json.ts'

export interface ChatChunk {
  readonly id?: Json
  readonly created?: Json
  readonly model?: Json
  readonly choices?: Json
  readonly usage?: Json
  /** An error in the middle of a stream, alone or next to `choices`. */
  readonly error?: Json
  /** `'error'` if the chunk is itself an error object, instead of containing one in `error`. */
  readonly object?: Json
  /** Groq only: older models report usage only as `x_groq.usage`. */
  readonly x_groq?: Json
}

export interface ChatChoice {
  readonly index?: Json
  readonly delta?: Json
  /** The message of a non-streamed answer, which has no `delta`. */
  readonly message?: Json
  readonly logprobs?: Json
  readonly finish_reason?: Json
}

export interface ChatDelta {
  /** Text as a string. Mistral also sends a list of text and thinking parts. */
  readonly content?: Json
  readonly refusal?: Json
  readonly reasoning_content?: Json
  readonly reasoning?: Json
  readonly thinking?: Json
  readonly reasoning_details?: Json
  readonly tool_calls?: Json
  readonly function_call?: Json
  readonly annotations?: Json
  readonly images?: Json
  readonly audio?: Json
  /** Google only: thought signatures that must be sent back with the message. */
  readonly extra_content?: Json
}

export interface ToolCallFragment {
  readonly index?: Json
  readonly id?: Json
  readonly type?: Json
  readonly function?: Json
  readonly custom?: Json
  readonly extra_content?: Json
}

/** A message of a request, e.g. `{ role: 'user', content: 'Hi' }`. */
export interface ChatMessage extends JsonObject {
  readonly role: string
  readonly content?: Json
}
