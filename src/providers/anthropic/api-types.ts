/**
 * What the Messages API sends and is sent, as far as it is used here. Whatever arrives may still be
 * of another shape: the types say what is meant, the readers check what they take.
 *
 * https://platform.claude.com/docs/en/api/messages-streaming
 */
import { isObject, type Json, type JsonObject } from '../../core/json/json.ts'

export type WireEvent =
  | { readonly type: 'message_start'; readonly message?: Json }
  | { readonly type: 'content_block_start'; readonly index?: Json; readonly content_block?: Json }
  | { readonly type: 'content_block_delta'; readonly index?: Json; readonly delta?: Json }
  | { readonly type: 'content_block_stop'; readonly index?: Json }
  | { readonly type: 'message_delta'; readonly delta?: Json; readonly usage?: Json }
  | { readonly type: 'message_stop' }
  | { readonly type: 'ping' }
  | { readonly type: 'error'; readonly error?: Json }

export type WireEventOf<Type extends WireEvent['type']> = Extract<
  WireEvent,
  { readonly type: Type }
>

/** One content block in the making, or of a request. */
export type ContentBlock = JsonObject

/** A block on its way into a request, with the message that it will be part of. */
export interface BlockEntry {
  readonly role: 'user' | 'assistant'
  /** Place of its item in the prompt; `null` for what is added here. */
  readonly at: number | null
  readonly block: ContentBlock
}

/** Up to where an answer was the end of a request, which the next one goes on with. */
export type RequestEntries = readonly BlockEntry[]

export interface AnthropicMessage {
  readonly role: 'user' | 'assistant'
  readonly content: readonly ContentBlock[]
}

const ASKS_SERVER: ReadonlySet<unknown> = new Set(['server_tool_use', 'mcp_tool_use'])

export function isThinking({ type }: ContentBlock): boolean {
  return type === 'thinking' || type === 'redacted_thinking'
}

export function isServerToolCall({ type }: ContentBlock): boolean {
  return ASKS_SERVER.has(type)
}

export function isBlankText({ type, text }: ContentBlock): boolean {
  return type === 'text' && (typeof text !== 'string' || text.trim() === '')
}

export function asBlock(value: Json | undefined): ContentBlock {
  return isObject(value) ? value : {}
}
