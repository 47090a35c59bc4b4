/**
 * Reads recorded conversations from JSON: a list of items, the body of a Responses or Chat
 * Completions request, a list of messages, a page of items as the gateway lists them, a list of any
 * of these, or one of these per line. Throws an error that names the position of invalid input,
 * e.g. `chats.json[3]`.
 */
import { describeJsonFault } from '../core/json/describe-json-fault.ts'
import { isObject, type Json, type JsonObject } from '../core/json/json.ts'
import type { Item } from '../core/item.ts'
import { parseItemId, type ItemPosition } from '../core/turn-derived-ids.ts'
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
    throw new Error(`${name} is not JSON: ${describeJsonFault(text)}.`, { cause })
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
  if (Array.isArray(value['data'])) return parseItems(readItemPage(value, value['data']), 'data')
  const { messages, input, instructions, output } = value
  if (messages !== undefined) return parseMessages(messages)
  if (input === undefined) {
    throw new Error('A recording has `input`, `messages` or `data`, or is a list of items.')
  }
  return [
    ...(typeof instructions === 'string' ? [createMessage('system', instructions)] : []),
    ...(typeof input === 'string' ? [createMessage('user', input)] : parseItems(input, 'input')),
    // The JSON of a stored response has the answer in `output`.
    ...(Array.isArray(output) ? parseItems(output, 'output') : []),
  ]
}

/**
 * Returns the items of a page of `GET /v1/responses/{id}/input_items` or
 * `/v1/conversations/{id}/items`, oldest first. The gateway lists the latest items first by
 * default.
 */
function readItemPage(page: JsonObject, items: readonly Json[]): readonly Json[] {
  if (page['has_more'] === true)
    throw new Error(
      'A page of items must hold the complete conversation. Request it with ?limit=100, and append `data` of the pages after it.',
    )
  const first = readPosition(page['first_id'])
  const last = readPosition(page['last_id'])
  return first !== null && last !== null && comparePositions(first, last) > 0
    ? items.toReversed()
    : items
}

function readPosition(id: Json | undefined): ItemPosition | null {
  return typeof id === 'string' ? parseItemId(id) : null
}

function comparePositions(a: ItemPosition, b: ItemPosition): number {
  if (a.turnId !== b.turnId) return a.turnId < b.turnId ? -1 : 1
  if (a.side !== b.side) return a.side === 'in' ? -1 : 1
  return a.index - b.index
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
