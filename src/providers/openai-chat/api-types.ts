/**
 * Types of what Chat Completions services send, with only the fields that the decoder reads. Every
 * field is plain JSON and is checked where it is read, because services deviate from the format.
 * https://platform.openai.com/docs/api-reference/chat-streaming
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
  /** `'error'` if the chunk is itself an error object instead of holding one in `error`. */
  readonly object?: Json
  /** Groq only: older models report usage as `x_groq.usage` and nowhere else. */
  readonly x_groq?: Json
}

export interface ChatChoice {
  readonly index?: Json
  readonly delta?: Json
  /** Replaces `delta` in an answer that was not streamed. */
  readonly message?: Json
  readonly logprobs?: Json
  readonly finish_reason?: Json
}

export interface ChatDelta {
  /** A string, or from Mistral a list of text and thinking parts. */
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
