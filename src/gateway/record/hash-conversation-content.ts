/**
 * Hashes the content of a conversation. When a client sends its complete chat, the hash finds the stored turn that the
 * chat continues. The hash covers only content that clients send back unchanged: texts, calls and outputs, in order.
 * It excludes ids, states, wire-specific fields, reasoning, and the items of gateway tools.
 */
import { readChatMessageFields } from '../../core/items/chat-only-fields.ts'
import { isGatewayToolItem } from '../../core/items/gateway-tool-items.ts'
import type { Item, Message, Part } from '../../core/item.ts'
import { isObject, type Json } from '../../core/json/json.ts'
import { readToolCallIdentity } from '../../core/items/tool-call-pairs.ts'
import { digestText } from '../../core/text/digest.ts'

const EMPTY_HASH = ''

/** Returns the hash of a conversation after `items` are added. `hash`: the hash before. */
export function extendContentHash(hash: string, items: readonly Item[]): string {
  return items.reduce(hashItem, hash)
}

export interface AnswerEnd {
  /** The number of items up to the end of the answer. */
  readonly itemCount: number
  /** The hash of these items. */
  readonly hash: string
}

export interface HashedHistory {
  /** The hash of the complete conversation. */
  readonly hash: string
  /** The end of each answer in the conversation, latest first. */
  readonly answerEnds: readonly AnswerEnd[]
}

export function hashHistory(items: readonly Item[]): HashedHistory {
  const answerEnds: AnswerEnd[] = []
  let hash = EMPTY_HASH
  items.forEach((item, index) => {
    if (isAnswerItem(items[index - 1]) && !isAnswerItem(item))
      answerEnds.push({ itemCount: index, hash })
    hash = hashItem(hash, item)
  })
  // A chat may end with an answer, which the model is to continue.
  if (isAnswerItem(items.at(-1))) answerEnds.push({ itemCount: items.length, hash })
  return { hash, answerEnds: answerEnds.toReversed() }
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
      return readToolCallIdentity(item)?.side !== 'output'
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

/** Returns the text to hash for an item; null if the hash excludes the item. */
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
 * Returns the text to hash for a message, e.g. `user: Hello`; null for an assistant message without text. Uses JSON
 * only for messages with several parts, media or an author's name, because writing JSON takes longer than hashing.
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

/** Converts each object to a list of its fields, sorted by name, so that their order does not change the hash. */
function sortFields(value: Json | undefined): Json {
  if (Array.isArray(value)) return (value as readonly Json[]).map(sortFields)
  if (!isObject(value)) return value ?? null
  return Object.keys(value)
    .toSorted()
    .flatMap((name): readonly Json[] =>
      value[name] === undefined ? [] : [[name, sortFields(value[name])]],
    )
}
