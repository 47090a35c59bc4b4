/**
 * Defines the items of a conversation, with the names of OpenAI's Responses API.
 *
 * Fields that are not declared here are stored too. Data that only one other API has, e.g. a signature
 * of Anthropic, is stored under `native.anthropic` and sent back only there. An item of an unknown type
 * is an `OpaqueItem`, which is stored and sent back unchanged.
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
  /** Data that only one upstream API has, by wire name, e.g. signatures under `anthropic`. */
  readonly native?: ItemNativeFields
  /**
   * Upstream that generated the item, e.g. `{ wire: 'anthropic', account: 'main', … }`. Set when the
   * item is loaded from the store; not part of the stored or sent item.
   */
  readonly origin?: Origin
}

export type ItemNativeFields = { readonly [wire: string]: JsonObject | undefined }

/**
 * The upstream that generated an item. Encrypted or signed reasoning can be sent back only to this
 * upstream, and for some models only after the same items, whose hash is `prefixHash`.
 */
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
  /** Phase of the answer, `commentary` or `final_answer`, which has to be sent back unchanged. */
  readonly phase?: string
}

export interface FunctionCall extends Common {
  readonly type: 'function_call'
  readonly call_id: string
  readonly name: string
  /** JSON text that the model wrote, e.g. `{"city":"Oslo"}`; may be malformed. */
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
  /** The reasoning in encrypted form, which only its provider can read. */
  readonly encrypted_content?: string | null
}

/** An item of any other type, e.g. of a hosted tool, a compaction, or a future type. */
export interface OpaqueItem extends Common {
  readonly type: 'opaque'
  readonly raw: JsonObject
}

export type Part = TextPart | RefusalPart | ImagePart | FilePart | AudioPart | OpaquePart

/** A text: `output_text` if the assistant wrote it, `input_text` for every other role. */
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

// The functions below check only `type`, because an item from a client may also have fields of other item types.

export function isToolCall(item: Item): item is ToolCall {
  return item.type === 'function_call' || item.type === 'custom_tool_call'
}

export function isToolOutput(item: Item): item is ToolOutput {
  return item.type === 'function_call_output' || item.type === 'custom_tool_call_output'
}

/** True for a tool call or its output, which both have a `call_id`. */
export function isToolItem(item: Item): item is ToolCall | ToolOutput {
  return isToolCall(item) || isToolOutput(item)
}

/** Concatenates the text parts of a message's content or a tool output. */
export function textOf(content: string | readonly Part[]): string {
  if (typeof content === 'string') return content
  let text = ''
  for (const part of content) text += textOfPart(part)
  return text
}

/** Returns the text of a content part, or `''` for media and unknown parts. */
export function textOfPart(part: Part): string {
  if (!isTextOrRefusal(part)) return ''
  return part.type === 'refusal' ? part.refusal : part.text
}

/** True for a content part that is text or a refusal, which is also text. */
export function isTextOrRefusal(part: Part): part is TextPart | RefusalPart {
  return part.type === 'input_text' || part.type === 'output_text' || part.type === 'refusal'
}
