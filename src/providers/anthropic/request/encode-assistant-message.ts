/**
 * What the model said, as the blocks that it said it in: thinking with its signature, text with its
 * citations, calls with all their fields, and blocks that only this provider understands.
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
import { isObject, listOrEmpty, textOrEmpty, type JsonObject } from '../../../core/json/json.ts'
import { encodePart } from './encode-parts.ts'
import type { NoteCollector } from '../encoding-notes.ts'
import { packThinkingBlock, unpackThinkingBlock } from '../pack-thinking-block.ts'
import { unpackCompactionBlock } from '../pack-compaction-block.ts'
import { encodeToolName } from '../tool-names.ts'
import type { ModelTraits } from '../model-traits.ts'
import { isServerToolCall, type ContentBlock, type BlockEntry } from '../api-types.ts'

export interface AssistantItemContext {
  readonly at: number
  /** The name of the call on this wire. */
  readonly id: string
  readonly traits: ModelTraits
  readonly notebook: NoteCollector
}

export function encodeAssistantItem(
  item: Item,
  place: AssistantItemContext,
): readonly BlockEntry[] {
  switch (item.type) {
    case 'message':
      return message(item, place)
    case 'function_call':
      return [said(place, toolUse(item, argumentsOf(item, place), place))]
    case 'custom_tool_call':
      return [said(place, toolUse(item, { input: item.input }, place))]
    case 'reasoning':
      return reasoning(item, place)
    case 'opaque':
      return opaque(item, place)
    case 'function_call_output':
    case 'custom_tool_call_output':
      return []
  }
}

function said({ at }: AssistantItemContext, block: ContentBlock): BlockEntry {
  return { role: 'assistant', at, block }
}

function message(item: Message, place: AssistantItemContext): readonly BlockEntry[] {
  const native = item.native?.['anthropic']
  if (native?.['refused'] === true) {
    place.notebook.write('refusal-left-out', { at: place.at })
    return []
  }
  const citations = listOrEmpty(native?.['citations'])
  const cited = citations.length === item.content.length
  return item.content.map((part, index) => {
    if (isMedia(part)) return moved(part, place)
    const block = encodePart(part, place.at, place.notebook)
    const own = cited ? listOrEmpty(citations[index]) : []
    return said(place, own.length > 0 ? { ...block, citations: own } : block)
  })
}

function isMedia({ type }: Part): boolean {
  return type === 'input_image' || type === 'input_file' || type === 'input_audio'
}

/** An assistant message can hold no media. */
function moved(part: Part, { at, notebook }: AssistantItemContext): BlockEntry {
  notebook.write('assistant-media-moved', { at })
  return { role: 'user', at, block: encodePart(part, at, notebook) }
}

function toolUse(
  item: ToolCall,
  input: JsonObject,
  { id, at, notebook }: AssistantItemContext,
): ContentBlock {
  const name = encodeToolName(item.name)
  if (name !== item.name) notebook.write('tool-name-changed', { at })
  return { type: 'tool_use', id, name, input, ...item.native?.['anthropic'] }
}

function argumentsOf(
  { arguments: text }: FunctionCall,
  { at, notebook }: AssistantItemContext,
): JsonObject {
  if (text.trim() === '') return {}
  try {
    const json: unknown = JSON.parse(text)
    if (isObject(json)) return json
  } catch {
    // Broken JSON is wrapped like any other text.
  }
  notebook.write('arguments-not-an-object', { at })
  return { arguments: text }
}

function reasoning(item: Reasoning, place: AssistantItemContext): readonly BlockEntry[] {
  const { at, traits, notebook } = place
  const block = thinkingOf(item)
  if (typeof block === 'string') {
    notebook.write(block, { at })
    return []
  }
  if (traits.readsThinking) return [said(place, block)]
  notebook.write('thinking-unsupported', { at })
  return []
}

/** The block as it came, or the reason why there is none. */
function thinkingOf({ native, origin, summary, encrypted_content: seal }: Reasoning) {
  if (origin !== undefined && origin.wire !== 'anthropic') return 'reasoning-of-another-provider'
  const block = native?.['anthropic']
  if (block !== undefined) return packThinkingBlock(block) === null ? 'thinking-unsigned' : block
  if (seal?.startsWith('anthropic:') !== true) {
    return origin === undefined ? 'reasoning-of-another-provider' : 'thinking-unsigned'
  }
  return unpackThinkingBlock(seal, summary.map(({ text }) => text).join('')) ?? 'thinking-changed'
}

/** Blocks of the provider's own tools, whose types end like this or are among these. */
const OWN_TYPES: ReadonlySet<string> = new Set([
  'server_tool_use',
  'mcp_tool_use',
  'container_upload',
])

function opaque(item: OpaqueItem, place: AssistantItemContext): readonly BlockEntry[] {
  const compaction = isOthers(item) ? null : unpackCompactionBlock(item)
  if (compaction !== null) return [said(place, compaction)]
  if (isOwn(item)) return [said(place, ownBlock(item))]
  place.notebook.write('item-of-another-provider', {
    at: place.at,
    detail: textOrEmpty(item.raw['type']),
  })
  return []
}

function isOthers({ origin }: OpaqueItem): boolean {
  return origin !== undefined && origin.wire !== 'anthropic'
}

function isOwn(item: OpaqueItem): boolean {
  if (isOthers(item)) return false
  const { raw, native } = item
  if (native?.['anthropic'] !== undefined) return true
  const type = raw['type']
  if (typeof type !== 'string') return false
  return OWN_TYPES.has(type) || type.endsWith('_tool_result')
}

/** A client without memory was given every item with an id, which only some blocks have here. */
function ownBlock({ raw, native }: OpaqueItem): ContentBlock {
  if (native?.['anthropic'] !== undefined || isServerToolCall(raw)) return raw
  const { id: _id, ...block } = raw
  return block
}
