/**
 * Types of the Messages API, with only the fields that the gateway uses. The types describe the
 * documented format, but an upstream may send something else, so each reader checks the fields that
 * it reads.
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

/** A content block of a request, or a content block of a stream, which may still be incomplete. */
export type ContentBlock = JsonObject

/** A content block of a request, with the role of the message that it becomes part of. */
export interface BlockEntry {
  readonly role: 'user' | 'assistant'
  /** Index of the block's item in the prompt; `null` for a block that the gateway adds. */
  readonly at: number | null
  readonly block: ContentBlock
}

/**
 * A section of a request's entries. If a model continued an earlier answer of its own, the section
 * ends with that answer, because an earlier request ended there. The last section ends with this
 * request.
 */
export type RequestSection = readonly BlockEntry[]

export interface AnthropicMessage {
  readonly role: 'user' | 'assistant'
  readonly content: readonly ContentBlock[]
}

const SERVER_TOOL_CALL_TYPES: ReadonlySet<unknown> = new Set(['server_tool_use', 'mcp_tool_use'])

export function isThinking({ type }: ContentBlock): boolean {
  return type === 'thinking' || type === 'redacted_thinking'
}

export function isServerToolCall({ type }: ContentBlock): boolean {
  return SERVER_TOOL_CALL_TYPES.has(type)
}

export function isBlankText({ type, text }: ContentBlock): boolean {
  return type === 'text' && (typeof text !== 'string' || text.trim() === '')
}

export function asBlock(value: Json | undefined): ContentBlock {
  return isObject(value) ? value : {}
}
