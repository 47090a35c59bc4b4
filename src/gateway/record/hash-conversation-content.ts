/**
 * Hashes the content of a conversation, to find the turn that a client continues which sends its complete
 * history. The hash covers what such a client sends back unchanged: texts, calls and outputs in order. It
 * leaves out ids, states and wire-specific fields, reasoning (most clients drop it), and gateway tool
 * items, which the client never receives.
 */
import { readChatMessageFields } from '../../core/items/chat-only-fields.ts'
import { isGatewayToolItem } from '../../core/items/gateway-tool-items.ts'
import type { Item, Message, Part } from '../../core/item.ts'
import { isObject, type Json } from '../../core/json/json.ts'
import { callEndOf } from '../../core/items/tool-call-pairs.ts'
import { digestText } from '../../core/text/digest.ts'

const EMPTY_HASH = ''

/** Returns the hash of the already hashed content followed by the items. */
export function extendContentHash(hash: string, items: readonly Item[]): string {
  return items.reduce(hashItem, hash)
}

export interface AnswerBoundary {
  /** The number of items before the boundary. */
  readonly at: number
  /** The hash of these items. */
  readonly hash: string
}

export interface HashedHistory {
  /** The hash of all items. */
  readonly hash: string
  /** The ends of the model's answers, latest first. */
  readonly boundaries: readonly AnswerBoundary[]
}

export function hashHistory(items: readonly Item[]): HashedHistory {
  const boundaries: AnswerBoundary[] = []
  let hash = EMPTY_HASH
  items.forEach((item, at) => {
    if (at > 0 && isAnswerItem(items[at - 1]) && !isAnswerItem(item)) boundaries.push({ at, hash })
    hash = hashItem(hash, item)
  })
  // A request may end with an answer that the model is to continue.
  if (isAnswerItem(items.at(-1))) boundaries.push({ at: items.length, hash })
  return { hash, boundaries: boundaries.toReversed() }
}

function isAnswerItem(item: Item | undefined): boolean {
  if (item !== undefined && isGatewayToolItem(item)) return true
  switch (item?.type) {
    case 'message':
      return item.role === 'assistant'
    case 'reasoning':
    case 'function_call':
    case 'custom_tool_call':
      return true
    case 'opaque':
      return callEndOf(item)?.side !== 'output'
    case 'function_call_output':
    case 'custom_tool_call_output':
    case undefined:
      return false
  }
}

function hashItem(hash: string, item: Item): string {
  const content = serializeItem(item)
  return content === null ? hash : digestText(`${hash}\n${content}`)
}

/** Returns null for an item that the hash leaves out. */
function serializeItem(item: Item): string | null {
  if (isGatewayToolItem(item)) return null
  switch (item.type) {
    case 'message':
      return serializeMessage(item)
    case 'function_call':
      return JSON.stringify([item.type, item.call_id, item.name, item.arguments])
    case 'custom_tool_call':
      return JSON.stringify([item.type, item.call_id, item.name, item.input])
    case 'function_call_output':
    case 'custom_tool_call_output': {
      const { output } = item
      const content = typeof output === 'string' ? output : serializeParts(output)
      return JSON.stringify([item.type, item.call_id, content])
    }
    case 'reasoning':
      return null
    case 'opaque': {
      const { id: _id, status: _status, ...rest } = item.raw
      return JSON.stringify(sortFields(rest))
    }
  }
}

/**
 * Returns null for an assistant message without text. The author's `name` counts as content, except for
 * the assistant. A message with one text, as most have, is written without JSON, which costs more than
 * the hash: `user: Hello`.
 */
function serializeMessage(item: Message): string | null {
  const { role } = item
  const fields = role === 'assistant' ? null : (readChatMessageFields(item) ?? null)
  const parts = serializeParts(item.content)
  const [only] = parts
  if (parts.length === 1 && typeof only === 'string' && fields === null) return `${role}: ${only}`
  if (parts.length === 0 && role === 'assistant') return null
  return JSON.stringify([role, parts, sortFields(fields)])
}

function serializeParts(parts: readonly Part[]): readonly Json[] {
  return parts.flatMap((part): readonly Json[] => {
    switch (part.type) {
      case 'input_text':
      case 'output_text':
        return part.text === '' ? [] : [part.text]
      case 'refusal':
        return part.refusal === '' ? [] : [['refusal', part.refusal]]
      case 'input_image':
      case 'input_file':
      case 'input_audio':
      case 'opaque':
        return [sortFields({ ...part })]
    }
  })
}

/** Turns objects into lists of fields by name, so that the order of the fields does not matter. */
function sortFields(value: Json | undefined): Json {
  if (Array.isArray(value)) return (value as readonly Json[]).map(sortFields)
  if (!isObject(value)) return value ?? null
  return Object.keys(value)
    .toSorted()
    .flatMap((name): readonly Json[] =>
      value[name] === undefined ? [] : [[name, sortFields(value[name])]],
    )
}
