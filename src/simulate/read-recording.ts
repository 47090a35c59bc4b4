/**
 * Conversations that somebody has kept, out of JSON: a list of items, the body of a Responses or of a
 * Chat Completions request, a list of messages, or a list of any of these. Several lines of JSON are
 * such a list as well. What cannot be read throws an Error that says where.
 */
import { isObject } from '../core/json/json.ts'
import type { Item } from '../core/item.ts'
import { isEncryptedReasoning } from '../core/reasoning/is-encrypted-or-signed.ts'
import { detectEncryptedContentWire } from '../core/reasoning/detect-encrypted-content-wire.ts'
import { parseMessages } from '../dialects/chat/parse/parse-messages.ts'
import { parseItems } from '../dialects/responses/parse/parse-items.ts'
import { GatewayError } from '../core/errors/gateway-error.ts'
import { splitIntoScript, type ConversationScript } from './conversation-script.ts'

export function readRecording(text: string, name: string): readonly ConversationScript[] {
  const value = parsed(text, name)
  const isMany = Array.isArray(value) && value.length > 0 && value.every(isConversation)
  const all: readonly (readonly [unknown, string])[] = isMany
    ? (value as readonly unknown[]).map((each, at) => [each, `${name}[${at}]`])
    : [[value, name]]
  return all.map(([conversation, place]) => scriptFrom(conversation, place))
}

/** Items as they can be played: without their ids, and without saying who made them. */
export function scriptOfItems(name: string, items: readonly Item[]): ConversationScript {
  const script = splitIntoScript(name, items.map(playable))
  if (script.exchanges.length === 0) throw new Error(`${name} holds no items.`)
  return script
}

function parsed(text: string, name: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    const lines = text.split('\n').filter((line) => line.trim() !== '')
    try {
      if (lines.length > 1) return lines.map((line): unknown => JSON.parse(line))
    } catch {
      // What is wrong with the whole says more.
    }
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new Error(`${name} is not JSON: ${reason}`, { cause })
  }
}

/** A list, or a body. An item may hold fields of these names, but it has a type or a role. */
function isConversation(value: unknown): boolean {
  if (Array.isArray(value)) return true
  if (!isObject(value) || 'type' in value || 'role' in value) return false
  return 'input' in value || 'messages' in value
}

function scriptFrom(value: unknown, name: string): ConversationScript {
  try {
    return scriptOfItems(name, itemsOf(value))
  } catch (fault) {
    if (!(fault instanceof GatewayError)) throw fault
    throw new Error(`${name}: ${fault.message}`, { cause: fault })
  }
}

function itemsOf(value: unknown): readonly Item[] {
  if (Array.isArray(value)) {
    return value.some(isChatMessage) ? parseMessages(value) : parseItems(value, 'input')
  }
  if (!isObject(value)) throw new Error('A recording is a list of items, or the body of a request.')
  const { messages, input, instructions, output } = value
  if (messages !== undefined) return parseMessages(messages)
  if (input === undefined) {
    throw new Error('A recording has `input` or `messages`, or is a list of items.')
  }
  return [
    ...(typeof instructions === 'string' ? [said('system', instructions)] : []),
    ...(typeof input === 'string' ? [said('user', input)] : parseItems(input, 'input')),
    // As a response shows it.
    ...(Array.isArray(output) ? parseItems(output, 'output') : []),
  ]
}

/** Its calls and their outputs stand in fields that an item has not. */
function isChatMessage(value: unknown): boolean {
  return isObject(value) && (value['role'] === 'tool' || Array.isArray(value['tool_calls']))
}

function said(role: 'system' | 'user', text: string): Item {
  return { type: 'message', role, content: [{ type: 'input_text', text }] }
}

/** What other wires have sealed counts as if its reader here had sealed it. */
function playable(item: Item): Item {
  const { id: _id, origin: _origin, ...rest } = item
  if (rest.type !== 'reasoning') return rest
  const { encrypted_content: sealed, native } = rest
  if (typeof sealed === 'string' && sealed !== '') {
    return detectEncryptedContentWire(sealed) === null
      ? rest
      : { ...rest, encrypted_content: `(${sealed}` }
  }
  return isEncryptedReasoning(rest)
    ? { ...rest, encrypted_content: `(${JSON.stringify(native)}` }
    : rest
}
