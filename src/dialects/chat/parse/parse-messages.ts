/**
 * Chat messages as items. A message of the assistant becomes up to three kinds of them, in the order
 * in which a model speaks: its reasoning, its words, its calls. What the waist has no word for goes
 * along under `native.chat`, so that the message can be written again without a loss.
 */
import { patchObject } from '../../../core/json/patch-object.ts'
import { isItemLevelField, type ChatOnlyFields } from '../../../core/items/chat-only-fields.ts'
import { setGatewayField } from '../../../core/items/author-time-and-reset-fields.ts'
import type { Item, Message, Role } from '../../../core/item.ts'
import type { JsonObject } from '../../../core/json/json.ts'
import { GatewayError } from '../../../core/errors/gateway-error.ts'
import { asList, asObject, asOneOf, asString, readOptional } from '../../checks/check-json-types.ts'
import { parseItemBackstoryField } from '../../context-policy/parse-item-backstory-field.ts'
import { parseToolCalls } from './parse-tool-calls.ts'
import { createToolCallRegistry, type ToolCallRegistry } from './tool-call-registry.ts'
import { parseMessageContent, type ParsedContent } from './parse-message-content.ts'
import { parseMessageReasoning } from './parse-message-reasoning.ts'
import { pickUnknownFields } from './pick-unknown-fields.ts'

export function parseMessages(value: unknown): readonly Item[] {
  const messages = asList(value, 'messages')
  if (messages.length === 0) throw noMessages()
  const items: Item[] = []
  const book = createToolCallRegistry()
  for (const [place, entry] of messages.entries()) {
    const path = `messages[${place}]`
    const written = asObject(entry, path)
    const role = asRole(written['role'], `${path}.role`)
    readOptional(asString, written['name'], `${path}.name`)
    const field = parseItemBackstoryField(written['backstory'], `${path}.backstory`)
    const message = withoutOurs(written)
    const first = items.length
    READERS[role]({ message, path, items, book })
    if (field !== null) say(field, items, first)
  }
  return items
}

/** The very same, if its client has said nothing in our words, as nearly always. */
function withoutOurs(message: JsonObject): JsonObject {
  let ours: Record<string, undefined> | null = null
  for (const name in message) {
    if (name !== 'backstory' && !isItemLevelField(name)) continue
    ours ??= {}
    ours[name] = undefined
  }
  // All at once, for each change makes a copy.
  return ours === null ? message : patchObject(message, ours)
}

/** Of all that the message has become; but with its beginning only does the conversation begin anew. */
function say({ reset, ...field }: JsonObject, items: Item[], first: number): void {
  for (const [place, item] of items.slice(first).entries()) {
    const begins = place === 0 && reset !== undefined
    items[first + place] = setGatewayField(item, begins ? { ...field, reset } : field)
  }
}

const ROLES = ['system', 'assistant', 'user', 'function', 'tool', 'developer'] as const

const asOne = asOneOf(ROLES)

function asRole(value: unknown, path: string): (typeof ROLES)[number] {
  return asOne(asString(value, path), path)
}

interface Reading {
  readonly message: JsonObject
  readonly path: string
  readonly items: Item[]
  readonly book: ToolCallRegistry
}

const READERS: Readonly<Record<(typeof ROLES)[number], (reading: Reading) => void>> = {
  system: (reading) => readSaid(reading, 'system'),
  developer: (reading) => readSaid(reading, 'developer'),
  user: (reading) => readSaid(reading, 'user'),
  assistant: readAssistant,
  tool: readOutput,
  function: readLegacyOutput,
}

function readSaid({ message, path, items }: Reading, role: Role): void {
  const content = parseMessageContent(message['content'], `${path}.content`, 'input_text')
  items.push(messageItem(role, content, pickUnknownFields(message, SAID)))
}

const SAID = new Set(['role', 'content'])

function readAssistant({ message, path, items, book }: Reading): void {
  const { item: reasoning, taken } = parseMessageReasoning(message)
  const calls = parseToolCalls(message, path, book)
  const content = assistantContent(message, path)
  const rest = pickUnknownFields(
    message,
    taken.length === 0 ? ASSISTANT : new Set([...ASSISTANT, ...taken]),
  )
  const isSilent = content.parts.every((part) => part.type === 'output_text' && part.text === '')

  if (reasoning !== null) items.push(reasoning)
  const [first, ...others] = calls
  if (first === undefined || !isSilent) {
    items.push(messageItem('assistant', content, rest), ...calls)
  } else if (rest === null) items.push(...calls)
  else {
    const chat: ChatOnlyFields = { ...rest, ...first.native?.['chat'] }
    items.push({ ...first, native: { chat } }, ...others)
  }
}

const ASSISTANT = new Set(['role', 'content', 'refusal', 'tool_calls', 'function_call'])

function assistantContent(message: JsonObject, path: string): ParsedContent {
  const said = message['content'] ?? []
  const content = parseMessageContent(said, `${path}.content`, 'output_text')
  const refusal = readOptional(asString, message['refusal'], `${path}.refusal`)
  if (refusal === null || refusal === '') return content
  return { ...content, parts: [...content.parts, { type: 'refusal', refusal }] }
}

function readOutput({ message, path, items, book }: Reading): void {
  const given = asString(message['tool_call_id'], `${path}.tool_call_id`)
  const { callId, kind } = book.answered(given)
  const { output, native } = outputOf(message, path, OUTPUT)
  const type = kind === 'custom' ? 'custom_tool_call_output' : 'function_call_output'
  items.push({ type, call_id: callId, output, ...native })
}

const OUTPUT = new Set(['role', 'content', 'tool_call_id'])

/** In the way of `functions` an output names its function, and there is one call at a time. */
function readLegacyOutput({ message, path, items, book }: Reading): void {
  const name = asString(message['name'], `${path}.name`)
  const { output } = outputOf(
    { ...message, content: message['content'] ?? '' },
    path,
    LEGACY_OUTPUT,
  )
  items.push({ type: 'function_call_output', call_id: book.answeredByName(name), output })
}

const LEGACY_OUTPUT = new Set(['role', 'content', 'name'])

function outputOf(message: JsonObject, path: string, known: ReadonlySet<string>) {
  const { content } = message
  const rest = pickUnknownFields(message, known)
  if (typeof content === 'string') return { output: content, native: nativeOf(rest, undefined) }
  const { parts, extras } = parseMessageContent(content, `${path}.content`, 'input_text')
  return { output: parts, native: nativeOf(rest, extras) }
}

function messageItem(
  role: Role,
  { parts, extras }: ParsedContent,
  rest: JsonObject | null,
): Message {
  return { type: 'message', role, content: parts, ...nativeOf(rest, extras) }
}

function nativeOf(rest: JsonObject | null, extras: ParsedContent['extras']) {
  if (rest === null && extras === undefined) return undefined
  const chat: ChatOnlyFields = { ...rest, ...(extras === undefined ? {} : { $parts: extras }) }
  return { native: { chat } }
}

function noMessages(): GatewayError {
  return new GatewayError({
    status: 400,
    type: 'invalid_request_error',
    code: 'empty_array',
    message:
      "Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array instead.",
    param: 'messages',
  })
}
