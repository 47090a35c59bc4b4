/**
 * Parses chat messages into items. An assistant message becomes up to three kinds of items, in the
 * order in which a model writes them: reasoning, message, tool calls. Unknown fields are stored under
 * `native.chat`, so that the message can be rendered again without losses.
 */
import { patchObject } from '../../../core/json/patch-object.ts'
import { isItemLevelField, type ChatOnlyFields } from '../../../core/items/chat-only-fields.ts'
import { setGatewayFields } from '../../../core/items/gateway-fields.ts'
import type { Item, Message, Role } from '../../../core/item.ts'
import type { JsonObject } from '../../../core/json/json.ts'
import {
  removeReferencesOfEntry,
  setReasoningReferences,
} from '../../../core/markers/reasoning-reference.ts'
import { GatewayError } from '../../../core/errors/gateway-error.ts'
import { asList, asObject, asOneOf, asString, readOptional } from '../../checks/check-json-types.ts'
import { parseItemBackstoryField } from '../../context-policy/parse-item-backstory-field.ts'
import { parseToolCalls } from './parse-tool-calls.ts'
import { createToolOutputMatcher, type ToolOutputMatcher } from './match-tool-outputs.ts'
import { parseMessageContent, type ParsedMessageContent } from './parse-message-content.ts'
import { parseMessageReasoning } from './parse-message-reasoning.ts'
import { pickUnknownFields } from './pick-unknown-fields.ts'

export function parseMessages(value: unknown): readonly Item[] {
  const messages = asList(value, 'messages')
  if (messages.length === 0) throw createNoMessagesError()
  const items: Item[] = []
  const outputMatcher = createToolOutputMatcher()
  for (const [index, entry] of messages.entries()) {
    const path = `messages[${index}]`
    const clientMessage = asObject(entry, path)
    const role = asRole(clientMessage['role'], `${path}.role`)
    readOptional(asString, clientMessage['name'], `${path}.name`)
    const options = parseItemBackstoryField(clientMessage['backstory'], `${path}.backstory`)
    const cleanMessage = removeGatewayFields(clientMessage)
    // A reference beside reasoning is read; elsewhere it means nothing, and no model must be sent it.
    const message = role === 'assistant' ? cleanMessage : removeReferencesOfEntry(cleanMessage)
    const firstIndex = items.length
    MESSAGE_READERS[role]({ message, path, items, outputMatcher })
    if (options !== null) setItemOptions(options, items, firstIndex)
  }
  return items
}

/**
 * Removes `backstory` and fields with names that the gateway uses internally, e.g. `$parts`.
 * Returns the same message if it has none of them.
 */
function removeGatewayFields(message: JsonObject): JsonObject {
  let removed: Record<string, undefined> | null = null
  for (const name in message) {
    if (name !== 'backstory' && !isItemLevelField(name)) continue
    removed ??= {}
    removed[name] = undefined
  }
  // Removes all fields with one patch, because each patch copies the message.
  return removed === null ? message : patchObject(message, removed)
}

/**
 * Sets the options in a message's field `backstory` (author, time, `pin`) on all items that the
 * message became; sets `reset` only on the first of them.
 */
function setItemOptions({ reset, ...options }: JsonObject, items: Item[], firstIndex: number) {
  for (const [offset, item] of items.slice(firstIndex).entries()) {
    const isReset = offset === 0 && reset !== undefined
    items[firstIndex + offset] = setGatewayFields(item, isReset ? { ...options, reset } : options)
  }
}

const ROLES = ['system', 'assistant', 'user', 'function', 'tool', 'developer'] as const

function asRole(value: unknown, path: string): (typeof ROLES)[number] {
  return asOneOf(ROLES)(asString(value, path), path)
}

/** A message to parse, and the items and tool calls of the messages before it. */
interface MessageContext {
  readonly message: JsonObject
  readonly path: string
  readonly items: Item[]
  readonly outputMatcher: ToolOutputMatcher
}

const MESSAGE_READERS: Readonly<Record<(typeof ROLES)[number], (context: MessageContext) => void>> =
  {
    system: (context) => readInputMessage(context, 'system'),
    developer: (context) => readInputMessage(context, 'developer'),
    user: (context) => readInputMessage(context, 'user'),
    assistant: readAssistantMessage,
    tool: readToolOutput,
    function: readLegacyOutput,
  }

function readInputMessage({ message, path, items }: MessageContext, role: Role): void {
  const content = parseMessageContent(message['content'], `${path}.content`, 'input_text')
  items.push(createMessage(role, content, pickUnknownFields(message, INPUT_FIELDS)))
}

const INPUT_FIELDS = new Set(['role', 'content'])

function readAssistantMessage({ message, path, items, outputMatcher }: MessageContext): void {
  const { item: reasoning, usedFields, references } = parseMessageReasoning(message)
  const firstIndex = items.length
  const calls = parseToolCalls(message, path, outputMatcher)
  const content = parseAssistantContent(message, path)
  const rest = pickUnknownFields(message, new Set([...ASSISTANT_FIELDS, ...usedFields]))
  const hasNoText = content.parts.every((part) => part.type === 'output_text' && part.text === '')

  if (reasoning !== null) items.push(reasoning)
  const [first, ...others] = calls
  if (first === undefined || !hasNoText) {
    items.push(createMessage('assistant', content, rest), ...calls)
  } else if (rest === null) items.push(...calls)
  else {
    const chat: ChatOnlyFields = { ...rest, ...first.native?.['chat'] }
    items.push({ ...first, native: { chat } }, ...others)
  }
  const firstItem = items[firstIndex]
  if (references.length > 0 && firstItem !== undefined)
    items[firstIndex] = setReasoningReferences(firstItem, references)
}

const ASSISTANT_FIELDS = ['role', 'content', 'refusal', 'tool_calls', 'function_call']

function parseAssistantContent(message: JsonObject, path: string): ParsedMessageContent {
  const value = message['content'] ?? []
  const content = parseMessageContent(value, `${path}.content`, 'output_text')
  const refusal = readOptional(asString, message['refusal'], `${path}.refusal`)
  if (refusal === null || refusal === '') return content
  return { ...content, parts: [...content.parts, { type: 'refusal', refusal }] }
}

function readToolOutput({ message, path, items, outputMatcher }: MessageContext): void {
  const clientId = asString(message['tool_call_id'], `${path}.tool_call_id`)
  const { callId, kind } = outputMatcher.matchOutput(clientId)
  const { output, native } = parseOutput(message, path, OUTPUT_FIELDS)
  const type = kind === 'custom' ? 'custom_tool_call_output' : 'function_call_output'
  items.push({ type, call_id: callId, output, ...native })
}

const OUTPUT_FIELDS = new Set(['role', 'content', 'tool_call_id'])

/**
 * Reads a message with the legacy role `function`: a tool output that names its function instead of
 * the id of its call.
 */
function readLegacyOutput({ message, path, items, outputMatcher }: MessageContext): void {
  const name = asString(message['name'], `${path}.name`)
  const content = message['content'] ?? ''
  const { output } = parseOutput({ ...message, content }, path, LEGACY_OUTPUT_FIELDS)
  const call_id = outputMatcher.matchLegacyOutput(name)
  items.push({ type: 'function_call_output', call_id, output })
}

const LEGACY_OUTPUT_FIELDS = new Set(['role', 'content', 'name'])

function parseOutput(message: JsonObject, path: string, known: ReadonlySet<string>) {
  const { content } = message
  const rest = pickUnknownFields(message, known)
  if (typeof content === 'string') return { output: content, native: createNative(rest, undefined) }
  const { parts, unknownFields } = parseMessageContent(content, `${path}.content`, 'input_text')
  return { output: parts, native: createNative(rest, unknownFields) }
}

function createMessage(
  role: Role,
  { parts, unknownFields }: ParsedMessageContent,
  rest: JsonObject | null,
): Message {
  return { type: 'message', role, content: parts, ...createNative(rest, unknownFields) }
}

function createNative(rest: JsonObject | null, $parts: ParsedMessageContent['unknownFields']) {
  if (rest === null && $parts === undefined) return undefined
  const chat: ChatOnlyFields = { ...rest, ...($parts === undefined ? {} : { $parts }) }
  return { native: { chat } }
}

function createNoMessagesError(): GatewayError {
  return new GatewayError({
    status: 400,
    type: 'invalid_request_error',
    code: 'empty_array',
    message:
      "Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array instead.",
    param: 'messages',
  })
}
