/**
 * Types of Chat Completions answers, limited to the fields that the decoder reads. Services deviate
 * from the documented format, so each field is typed as JSON and checked by the function that reads
 * it.
 *
 * https://platform.openai.com/docs/api-reference/chat-streaming
 */
import type { Json, JsonObject } from '../../core/json/json.ts'

export interface ChatChunk {
  readonly id?: Json
  readonly created?: Json
  readonly model?: Json
  readonly choices?: Json
  readonly usage?: Json
  /** An error in the middle of a stream, with or without `choices` beside it. */
  readonly error?: Json
  /** The type of the chunk. `'error'` means that the chunk itself is the error object. */
  readonly object?: Json
  /** Groq only. Its older models report usage only as `x_groq.usage`. */
  readonly x_groq?: Json
}

export interface ChatChoice {
  readonly index?: Json
  readonly delta?: Json
  /** The message of a non-streamed answer; a streamed answer has `delta` instead. */
  readonly message?: Json
  readonly logprobs?: Json
  readonly finish_reason?: Json
}

export interface ChatDelta {
  /** Text as a string. Mistral also sends a list of text parts and thinking parts. */
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
  /** Google only. Contains thought signatures, which later requests must contain. */
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
