/**
 * Encodes an assistant's items as content blocks: thinking, text with its citations, tool calls,
 * and blocks of Anthropic's own tools.
 */
import type {
  FunctionCall,
  Item,
  Message,
  OpaqueItem,
  Part,
  Reasoning,
  ToolCall,
} from '../../../core/item.ts'
import { listOrEmpty, textOrEmpty, type JsonObject } from '../../../core/json/json.ts'
import { tryParseLimitedJsonObject } from '../../../core/json/limited-json.ts'
import { encodePart } from './encode-parts.ts'
import type { EncodingContext } from './encoding-context.ts'
import { restoreThinkingBlock } from './thinking-to-send.ts'
import { unpackCompactionBlock } from '../pack-compaction-block.ts'
import { encodeToolName } from '../encode-tool-name.ts'
import { isServerToolCall, type ContentBlock, type BlockEntry } from '../api-types.ts'

export interface AssistantItemContext extends EncodingContext {
  readonly itemIndex: number
  /** The id that the call has in the request; empty if the item is no tool call. */
  readonly callId: string
  /** Reasoning that is left out, because other thinking of its answer cannot be sent. */
  readonly incompleteThinking: ReadonlySet<Item>
}

export function encodeAssistantItem(
  item: Item,
  context: AssistantItemContext,
): readonly BlockEntry[] {
  switch (item.type) {
    case 'message':
      return encodeMessage(item, context)
    case 'function_call':
      return [createEntry(context, encodeToolUse(item, parseArguments(item, context), context))]
    case 'custom_tool_call':
      return [createEntry(context, encodeToolUse(item, { input: item.input }, context))]
    case 'reasoning':
      return encodeReasoning(item, context)
    case 'opaque':
      return encodeOpaqueItem(item, context)
    case 'function_call_output':
    case 'custom_tool_call_output':
      return []
  }
}

function createEntry({ itemIndex }: AssistantItemContext, block: ContentBlock): BlockEntry {
  return { role: 'assistant', itemIndex, block }
}

function encodeMessage(item: Message, context: AssistantItemContext): readonly BlockEntry[] {
  const native = item.native?.['anthropic']
  if (native?.['refused'] === true) {
    context.notes.write('refusal-left-out', { itemIndex: context.itemIndex })
    return []
  }
  const citations = listOrEmpty(native?.['citations'])
  const hasCitations = citations.length === item.content.length
  return item.content.map((part, index) => {
    if (isMedia(part)) return moveToUser(part, context)
    const block = encodePart(part, context.itemIndex, context.notes)
    const partCitations = hasCitations ? listOrEmpty(citations[index]) : []
    return createEntry(
      context,
      partCitations.length > 0 ? { ...block, citations: partCitations } : block,
    )
  })
}

function isMedia({ type }: Part): boolean {
  return type === 'input_image' || type === 'input_file' || type === 'input_audio'
}

/**
 * Encodes media for the user message after the assistant message, because an assistant message
 * cannot contain media.
 */
function moveToUser(part: Part, { itemIndex, notes }: AssistantItemContext): BlockEntry {
  notes.write('assistant-media-moved', { itemIndex })
  return { role: 'user', itemIndex, block: encodePart(part, itemIndex, notes) }
}

function encodeToolUse(
  item: ToolCall,
  input: JsonObject,
  { callId, itemIndex, notes }: AssistantItemContext,
): ContentBlock {
  const name = encodeToolName(item.name)
  if (name !== item.name) notes.write('tool-name-changed', { itemIndex })
  return { type: 'tool_use', id: callId, name, input, ...item.native?.['anthropic'] }
}

function parseArguments(
  { arguments: text }: FunctionCall,
  { itemIndex, notes, jsonBudget }: AssistantItemContext,
): JsonObject {
  if (text.trim() === '') return {}
  const json = tryParseLimitedJsonObject(text, jsonBudget)
  if (json !== null) return json
  notes.write('arguments-not-an-object', { itemIndex })
  return { arguments: text }
}

function encodeReasoning(item: Reasoning, context: AssistantItemContext): readonly BlockEntry[] {
  const { itemIndex, traits, notes, incompleteThinking } = context
  const block = incompleteThinking.has(item) ? 'thinking-incomplete' : restoreThinkingBlock(item)
  if (typeof block === 'string') {
    notes.write(block, { itemIndex })
    return []
  }
  if (traits.acceptsThinking) return [createEntry(context, block)]
  notes.write('thinking-unsupported', { itemIndex })
  return []
}

/** The types of blocks of Anthropic's own tools that do not end in `_tool_result`. */
const SERVER_TOOL_TYPES: ReadonlySet<string> = new Set(
  'server_tool_use mcp_tool_use container_upload'.split(' '),
)

function encodeOpaqueItem(item: OpaqueItem, context: AssistantItemContext): readonly BlockEntry[] {
  const compaction = isOfOtherProvider(item)
    ? null
    : unpackCompactionBlock(item, context.jsonBudget)
  if (compaction !== null) return [createEntry(context, compaction)]
  if (isServerBlock(item)) return [createEntry(context, restoreServerBlock(item))]
  context.notes.write('item-of-another-provider', {
    itemIndex: context.itemIndex,
    detail: textOrEmpty(item.raw['type']),
  })
  return []
}

function isOfOtherProvider({ origin }: OpaqueItem): boolean {
  return origin !== undefined && origin.wire !== 'anthropic'
}

function isServerBlock(item: OpaqueItem): boolean {
  if (isOfOtherProvider(item)) return false
  const { raw, native } = item
  if (native?.['anthropic'] !== undefined) return true
  const type = raw['type']
  if (typeof type !== 'string') return false
  return SERVER_TOOL_TYPES.has(type) || type.endsWith('_tool_result')
}

/**
 * Returns the original block of one of Anthropic's own tools. Removes an `id` that the gateway
 * added for its client. Calls and blocks with `native.anthropic` are returned unchanged, because
 * their ids are Anthropic's.
 */
function restoreServerBlock({ raw, native }: OpaqueItem): ContentBlock {
  if (native?.['anthropic'] !== undefined || isServerToolCall(raw)) return raw
  const { id: _id, ...block } = raw
  return block
}
