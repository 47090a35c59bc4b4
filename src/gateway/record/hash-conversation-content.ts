/**
 * Names what has been said by a hash, so that a client that sends its whole history each time is
 * told from which turn it goes on. Hashed is what such a client sends back unchanged: words, calls and
 * outputs in their order. Ids, states, and what only a wire has to say of an answer are left out, and
 * so is reasoning, which most clients forget, and what is of the house, of which they know nothing.
 */
import { readChatMessageFields } from '../../core/items/chat-only-fields.ts'
import { isGatewayToolItem } from '../../core/items/gateway-tool-items.ts'
import type { Item, Message, Part } from '../../core/item.ts'
import { isObject, type Json } from '../../core/json/json.ts'
import { callEndOf } from '../../core/items/tool-call-pairs.ts'
import { digestText } from '../../core/text/digest.ts'

/** The hash of nothing said yet. */
const NOTHING_SAID = ''

/** The hash of what `before` names with the items behind it. */
export function extendContentHash(before: string, items: readonly Item[]): string {
  return items.reduce(withItem, before)
}

export interface AnswerBoundary {
  /** How many items stand in front of it. */
  readonly at: number
  readonly hash: string
}

export interface HashedHistory {
  /** The hash of all of it. */
  readonly hash: string
  /** Where an answer ends and somebody else goes on, newest first. */
  readonly borders: readonly AnswerBoundary[]
}

export function hashHistory(items: readonly Item[]): HashedHistory {
  const borders: AnswerBoundary[] = []
  let hash = NOTHING_SAID
  items.forEach((item, at) => {
    if (at > 0 && isAnswer(items[at - 1]) && !isAnswer(item)) borders.push({ at, hash })
    hash = withItem(hash, item)
  })
  // What the model itself said last is to be gone on with.
  if (isAnswer(items.at(-1))) borders.push({ at: items.length, hash })
  return { hash, borders: borders.toReversed() }
}

function isAnswer(item: Item | undefined): boolean {
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

function withItem(hash: string, item: Item): string {
  const said = saidBy(item)
  return said === null ? hash : digestText(`${hash}\n${said}`)
}

/** `null` for what is as good as nothing. */
function saidBy(item: Item): string | null {
  if (isGatewayToolItem(item)) return null
  switch (item.type) {
    case 'message':
      return saidInMessage(item)
    case 'function_call':
      return JSON.stringify([item.type, item.call_id, item.name, item.arguments])
    case 'custom_tool_call':
      return JSON.stringify([item.type, item.call_id, item.name, item.input])
    case 'function_call_output':
    case 'custom_tool_call_output':
      return JSON.stringify([item.type, item.call_id, saidInOutput(item.output)])
    case 'reasoning':
      return null
    case 'opaque': {
      const { id: _id, status: _status, ...rest } = item.raw
      return JSON.stringify(sorted(rest))
    }
  }
}

/**
 * A model's own message may say nothing; a name that somebody else goes by is part of what is said.
 * Nearly all messages are one text, and that is not put into JSON, which costs more than its hash.
 */
function saidInMessage(item: Message): string | null {
  const { role } = item
  const fields = role === 'assistant' ? null : (readChatMessageFields(item) ?? null)
  const parts = saidInParts(item.content)
  const [only] = parts
  if (parts.length === 1 && typeof only === 'string' && fields === null) return `${role}: ${only}`
  if (parts.length === 0 && role === 'assistant') return null
  return JSON.stringify([role, parts, sorted(fields)])
}

function saidInOutput(output: string | readonly Part[]): Json {
  return typeof output === 'string' ? output : saidInParts(output)
}

function saidInParts(parts: readonly Part[]): readonly Json[] {
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
        return [sorted({ ...part })]
    }
  })
}

/** The same whatever order the fields came in. */
function sorted(value: Json | undefined): Json {
  if (Array.isArray(value)) return (value as readonly Json[]).map(sorted)
  if (!isObject(value)) return value ?? null
  return Object.keys(value)
    .toSorted()
    .flatMap((name): readonly Json[] =>
      value[name] === undefined ? [] : [[name, sorted(value[name])]],
    )
}
