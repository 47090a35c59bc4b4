/**
 * The narrow waist: what a conversation consists of, in the vocabulary of the Responses API.
 *
 * An item is the very object that came from the wire, so a field unknown to us survives because
 * nobody takes it away. What another wire said and this vocabulary has no word for is kept under
 * `native`, by the name of that wire, and goes back to that wire only. What is not understood at
 * all is `OpaqueItem`: carried, stored, and given back as it came.
 */
import type { Json, JsonObject } from './json/json.ts'

export type Item =
  | Message
  | FunctionCall
  | FunctionCallOutput
  | CustomCall
  | CustomCallOutput
  | Reasoning
  | OpaqueItem

export type Role = 'system' | 'developer' | 'user' | 'assistant'

interface Common {
  readonly id?: string
  readonly status?: string
  /** What one wire said of this item beyond the waist, by wire: signatures, names, details. */
  readonly native?: ItemNativeFields
  /** Who made it. Set when an item is loaded from the store; never sent, never stored in the item. */
  readonly origin?: Origin
}

export type ItemNativeFields = { readonly [wire: string]: JsonObject | undefined }

/** Reasoning is valid only where it was made, behind the prefix it was made on. */
export interface Origin {
  readonly wire: string
  readonly account: string
  readonly model: string
  readonly prefixHash: string | null
}

export interface Message extends Common {
  readonly type: 'message'
  readonly role: Role
  readonly content: readonly Part[]
  /** `commentary` or `final_answer`; must survive replay. */
  readonly phase?: string
}

export interface FunctionCall extends Common {
  readonly type: 'function_call'
  readonly call_id: string
  readonly name: string
  /** JSON as the model wrote it, which may be broken. */
  readonly arguments: string
}

export interface FunctionCallOutput extends Common {
  readonly type: 'function_call_output'
  readonly call_id: string
  readonly output: string | readonly Part[]
}

/** A call whose input is free text instead of JSON. */
export interface CustomCall extends Common {
  readonly type: 'custom_tool_call'
  readonly call_id: string
  readonly name: string
  readonly input: string
}

export interface CustomCallOutput extends Common {
  readonly type: 'custom_tool_call_output'
  readonly call_id: string
  readonly output: string | readonly Part[]
}

export interface Reasoning extends Common {
  readonly type: 'reasoning'
  readonly summary: readonly { readonly type: 'summary_text'; readonly text: string }[]
  readonly content?: readonly { readonly type: 'reasoning_text'; readonly text: string }[]
  /** Sealed by the provider; readable by it alone. */
  readonly encrypted_content?: string | null
}

/** An item of a type that the waist does not know: hosted tools, compaction, the future. */
export interface OpaqueItem extends Common {
  readonly type: 'opaque'
  readonly raw: JsonObject
}

export type Part = TextPart | RefusalPart | ImagePart | FilePart | AudioPart | OpaquePart

/** `output_text` is what an assistant said, `input_text` what anybody else did. */
export interface TextPart {
  readonly type: 'input_text' | 'output_text'
  readonly text: string
  readonly annotations?: readonly JsonObject[]
  readonly logprobs?: readonly Json[]
}

export interface RefusalPart {
  readonly type: 'refusal'
  readonly refusal: string
}

export interface ImagePart {
  readonly type: 'input_image'
  readonly image_url?: string | null
  readonly file_id?: string | null
  readonly detail?: string
}

export interface FilePart {
  readonly type: 'input_file'
  readonly file_data?: string
  readonly file_id?: string | null
  readonly file_url?: string
  readonly filename?: string
}

export interface AudioPart {
  readonly type: 'input_audio'
  readonly input_audio: { readonly data: string; readonly format: string }
}

export interface OpaquePart {
  readonly type: 'opaque'
  readonly raw: JsonObject
}

export type ToolCall = FunctionCall | CustomCall
export type ToolOutput = FunctionCallOutput | CustomCallOutput

// Any item may bring a field along that it has no use for: what an item is, only its type tells.

export function isToolCall(item: Item): item is ToolCall {
  return item.type === 'function_call' || item.type === 'custom_tool_call'
}

export function isToolOutput(item: Item): item is ToolOutput {
  return item.type === 'function_call_output' || item.type === 'custom_tool_call_output'
}

/** Either end of what a tool was asked, which both have a `call_id`. */
export function isToolItem(item: Item): item is ToolCall | ToolOutput {
  return isToolCall(item) || isToolOutput(item)
}

/** All text of a message, or of an output, in order. */
export function textOf(content: string | readonly Part[]): string {
  if (typeof content === 'string') return content
  let text = ''
  for (const part of content) text += textOfPart(part)
  return text
}

/** Empty for what is no text. */
export function textOfPart(part: Part): string {
  if (!isText(part)) return ''
  return part.type === 'refusal' ? part.refusal : part.text
}

/** Words, be they those of a refusal. */
export function isText(part: Part): part is TextPart | RefusalPart {
  return part.type === 'input_text' || part.type === 'output_text' || part.type === 'refusal'
}
