/**
 * Reads recorded conversations from JSON: a list of items, the body of a Responses or Chat
 * Completions request, a list of messages, a list of any of these, or one of these per line. Throws
 * an error that names the position of invalid input, e.g. `chats.json[3]`.
 */
import { isObject } from '../core/json/json.ts'
import type { Item } from '../core/item.ts'
import { isEncryptedOrSigned } from '../core/reasoning/is-encrypted-or-signed.ts'
import { detectEncryptedContentWire } from '../core/reasoning/detect-encrypted-content-wire.ts'
import { parseMessages } from '../dialects/chat/parse/parse-messages.ts'
import { parseItems } from '../dialects/responses/parse/parse-items.ts'
import { GatewayError } from '../core/errors/gateway-error.ts'
import { createScriptFromItems, type ConversationScript } from './conversation-script.ts'

export function readRecording(text: string, name: string): readonly ConversationScript[] {
  const value = parseJson(text, name)
  const isList = Array.isArray(value) && value.length > 0 && value.every(isConversation)
  if (!isList) return [toScript(value, name)]
  return (value as readonly unknown[]).map((entry, index) => toScript(entry, `${name}[${index}]`))
}

/**
 * Creates the script of a recorded conversation. Ids and origins are removed from its items,
 * because they belong to the real provider. Throws an error if there are no items.
 */
export function createScriptWithoutIdsAndOrigins(
  name: string,
  items: readonly Item[],
): ConversationScript {
  const script = createScriptFromItems(name, items.map(removeIdAndOrigin))
  if (script.exchanges.length === 0) throw new Error(`${name} holds no items.`)
  return script
}

function parseJson(text: string, name: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    const lines = text.split('\n').filter((line) => line.trim() !== '')
    try {
      if (lines.length > 1) return lines.map((line): unknown => JSON.parse(line))
    } catch {
      // If a line is invalid, too, the error for the complete text is thrown below, because it is
      // more useful than that of one line.
    }
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new Error(`${name} is not JSON: ${reason}`, { cause })
  }
}

/**
 * True for a list of items or a request body, so that a list of conversations is distinguished from
 * a list of items. An item may have a field `input` or `messages`, too, but it also has a type or a
 * role.
 */
function isConversation(value: unknown): boolean {
  if (Array.isArray(value)) return true
  if (!isObject(value) || 'type' in value || 'role' in value) return false
  return 'input' in value || 'messages' in value
}

function toScript(value: unknown, name: string): ConversationScript {
  try {
    return createScriptWithoutIdsAndOrigins(name, readItems(value))
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error
    throw new Error(`${name}: ${error.message}`, { cause: error })
  }
}

function readItems(value: unknown): readonly Item[] {
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
    ...(typeof instructions === 'string' ? [createMessage('system', instructions)] : []),
    ...(typeof input === 'string' ? [createMessage('user', input)] : parseItems(input, 'input')),
    // The JSON of a stored response has the answer in `output`.
    ...(Array.isArray(output) ? parseItems(output, 'output') : []),
  ]
}

/**
 * True for a chat message with tool calls or a tool output. Items of the Responses API have neither
 * `tool_calls` nor the role `tool`.
 */
function isChatMessage(value: unknown): boolean {
  return isObject(value) && (value['role'] === 'tool' || Array.isArray(value['tool_calls']))
}

function createMessage(role: 'system' | 'user', text: string): Item {
  return { type: 'message', role, content: [{ type: 'input_text', text }] }
}

/**
 * Removes the id and the origin of an item. Reasoning that a real provider encrypted or signed gets
 * encrypted content that begins with `(`, so that it no longer counts as that provider's. Otherwise
 * the encoder would omit it, because a request contains only reasoning of its own provider.
 */
function removeIdAndOrigin(item: Item): Item {
  const { id: _id, origin: _origin, ...rest } = item
  if (rest.type !== 'reasoning') return rest
  const { encrypted_content: encrypted, native } = rest
  if (typeof encrypted === 'string' && encrypted !== '') {
    return detectEncryptedContentWire(encrypted) === null
      ? rest
      : { ...rest, encrypted_content: `(${encrypted}` }
  }
  return isEncryptedOrSigned(rest)
    ? { ...rest, encrypted_content: `(${JSON.stringify(native)}` }
    : rest
}
