/**
 * What services that speak Chat Completions send, with only the fields we use. So many of them
 * bend the format that a field's value is plain JSON here, and is looked at where it is read.
 * https://platform.openai.com/docs/api-reference/chat-streaming
 */
import type { Json, JsonObject } from '../../core/json/json.ts'

export interface ChatChunk {
  readonly id?: Json
  readonly created?: Json
  readonly model?: Json
  readonly choices?: Json
  readonly usage?: Json
  /** In the middle of a stream, alone or next to `choices`. */
  readonly error?: Json
  /** `error` where a service sends a bare error object instead of wrapping it. */
  readonly object?: Json
  /** Groq's; older models report the usage in here only. */
  readonly x_groq?: Json
}

export interface ChatChoice {
  readonly index?: Json
  readonly delta?: Json
  /** In an answer that was not streamed, in place of `delta`. */
  readonly message?: Json
  readonly logprobs?: Json
  readonly finish_reason?: Json
}

export interface ChatDelta {
  /** Text, or with Mistral a list of text and thinking parts. */
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
  /** Google's: thought signatures that it wants back. */
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

/** A message of a request. */
export interface ChatMessage extends JsonObject {
  readonly role: string
  readonly content?: Json
}
