/**
 * Types of the Messages API, limited to the fields that the gateway uses. An upstream may send
 * anything else, so each function checks the fields that it reads.
 *
 * https://platform.claude.com/docs/en/api/messages-streaming
 */
import { isObject, type Json, type JsonObject } from '../../core/json/json.ts'

/**
 * A content block, e.g. `{ type: 'text', text: 'Hi' }`. In a stream, a block may still be
 * incomplete.
 */
export type ContentBlock = JsonObject

/** A content block for a request, with the role of the message that will contain it. */
export interface BlockEntry {
  readonly role: 'user' | 'assistant'
  /**
   * The index of the prompt item that the block encodes; `null` for a block that the gateway adds.
   */
  readonly itemIndex: number | null
  readonly block: ContentBlock
}

/**
 * A section of a conversation; a new one begins where the model continued its own answer. For
 * example, `[question, first half of the answer]` and `[second half, next question]`: an earlier
 * request consisted of the first section.
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

export function objectOrEmpty(value: Json | undefined): JsonObject {
  return isObject(value) ? value : {}
}
