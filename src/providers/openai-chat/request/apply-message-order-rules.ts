/**
 * Applies the rules of some services about the order and the roles of messages. Each rule applies
 * only with a quirk of the account, e.g. `strictAlternation`.
 */
import { isObject, textOrEmpty, type Json } from '../../../core/json/json.ts'
import type { ChatNotes } from '../encoding-notes.ts'
import type { ChatQuirks } from '../quirk-table.ts'
import type { ChatMessage } from '../api-types.ts'

type OrderRule = (messages: readonly ChatMessage[], notes: ChatNotes) => readonly ChatMessage[]

/**
 * Applies the rules that the quirks of the account name. `insertedInstructions` are system messages
 * that the gateway has put into the conversation: `strictAlternation` sends them as user messages
 * even at the start.
 */
export function applyMessageOrderRules(
  messages: readonly ChatMessage[],
  insertedInstructions: ReadonlySet<ChatMessage>,
  quirks: ChatQuirks,
  notes: ChatNotes,
): readonly ChatMessage[] {
  const rules: OrderRule[] = []
  if (quirks.systemRole === false) rules.push(replaceSystemRole)
  if (quirks.strictAlternation === true) rules.push(alternateRoles(insertedInstructions))
  if (quirks.userAfterTool === false) rules.push(insertAssistantAfterTools)
  if (quirks.prefixCompletion === true) rules.push(markPrefix(quirks))
  if (quirks.prefixCompletion === false) {
    rules.push((all) => [...all, ...createContinuationRequest(all, quirks, notes)])
  }
  return rules.reduce((result, rule) => rule(result, notes), messages)
}

const replaceSystemRole: OrderRule = (messages, notes) =>
  messages.map((message) => {
    if (!isSystem(message)) return message
    notes.write('system-as-user')
    const heading = 'These instructions hold for the whole conversation:\n'
    return { ...message, role: 'user', content: `${heading}${readText(message.content)}` }
  })

/**
 * Makes user and assistant messages alternate: merges consecutive messages of one role. System
 * messages stay only at the start; later ones, and instructions that the gateway inserted, are sent
 * as user messages. If the first message that is no system message is not the user's, adds a user
 * message before it.
 */
function alternateRoles(insertedInstructions: ReadonlySet<ChatMessage>): OrderRule {
  return (messages, notes) => {
    const out: ChatMessage[] = []
    for (const message of messages) {
      const isLeading = !insertedInstructions.has(message) && out.every(isSystem)
      const keepsRole = !isSystem(message) || isLeading
      if (!keepsRole) notes.write('system-as-user')
      const next = keepsRole ? message : { ...message, role: 'user' }
      const previous = out.at(-1)
      if (previous !== undefined && canMerge(previous, next)) {
        notes.write('messages-merged')
        const { role } = previous
        const content = mergeContent(previous.content, next.content)
        out[out.length - 1] = { ...previous, ...next, role, content }
      } else out.push(next)
    }
    const first = out.findIndex((message) => !isSystem(message))
    if (first < 0 || out[first]?.role === 'user') return out
    notes.write('first-user-line-added')
    return out.toSpliced(first, 0, { role: 'user', content: '(The conversation begins.)' })
  }
}

const insertAssistantAfterTools: OrderRule = (messages, notes) =>
  messages.flatMap((message, index) => {
    if (message.role !== 'user' || messages[index - 1]?.role !== 'tool') return [message]
    notes.write('assistant-line-added')
    return [{ role: 'assistant', content: 'I have the output.' }, message]
  })

function markPrefix({ reasoningField }: ChatQuirks): OrderRule {
  return (messages, notes) => {
    const last = findTrailingAssistantText(messages)
    if (last === null) return messages
    notes.write('prefix-marked')
    // A service with the field `reasoning_content` requires it, even if empty, in the message that
    // the model is to continue.
    const reasoning =
      reasoningField === 'reasoning_content' && last['reasoning_content'] === undefined
        ? { reasoning_content: '' }
        : {}
    return [...messages.slice(0, -1), { ...last, ...reasoning, prefix: true }]
  }
}

/**
 * Returns a user message that asks the model to continue, if the quirk `prefixCompletion` is false
 * and the last message is an assistant text; otherwise an empty list.
 */
export function createContinuationRequest(
  messages: readonly ChatMessage[],
  { prefixCompletion }: ChatQuirks,
  notes: ChatNotes,
): readonly ChatMessage[] {
  if (prefixCompletion !== false || findTrailingAssistantText(messages) === null) return []
  notes.write('prefill-as-request')
  const content = 'Go on with your last message exactly where it ends, without repeating any of it.'
  return [{ role: 'user', content }]
}

/**
 * Returns the last message if it is an assistant message with text and without tool calls;
 * otherwise null.
 */
function findTrailingAssistantText(messages: readonly ChatMessage[]): ChatMessage | null {
  const last = messages.at(-1)
  if (last?.role !== 'assistant' || hasCalls(last) || readText(last.content) === '') return null
  return last
}

function isSystem({ role }: ChatMessage): boolean {
  return role === 'system' || role === 'developer'
}

function hasCalls(message: ChatMessage): boolean {
  return message['tool_calls'] !== undefined || message['function_call'] !== undefined
}

/**
 * True if two consecutive messages may be merged: they have the same role and name. Tool outputs
 * are not merged, because each belongs to one call. An assistant message with tool calls is not
 * merged with the next one, because its outputs must directly follow it.
 */
function canMerge(first: ChatMessage, second: ChatMessage): boolean {
  const isOutput = first.role === 'tool' || first.role === 'function'
  const isSameRole = first.role === second.role || (isSystem(first) && isSystem(second))
  return isSameRole && first['name'] === second['name'] && !isOutput && !hasCalls(first)
}

function mergeContent(first: Json | undefined, second: Json | undefined): Json {
  if (second === null || second === undefined) return first ?? null
  if (typeof first === 'string' && typeof second === 'string') return `${first}\n${second}`
  return [...listParts(first), ...listParts(second)]
}

function listParts(content: Json | undefined): readonly Json[] {
  if (Array.isArray(content)) return content as readonly Json[]
  return typeof content === 'string' && content !== '' ? [{ type: 'text', text: content }] : []
}

function readText(content: Json | undefined): string {
  return listParts(content)
    .map((part) => (isObject(part) ? textOrEmpty(part['text']) : ''))
    .join('')
}
