/**
 * Rules about the order of messages that only some services have. Each takes the messages as they
 * are and returns them lawful; without a quirk that asks for it none runs.
 */
import { isObject, textOrEmpty, type Json } from '../../../core/json/json.ts'
import type { NoteCollector } from '../encoding-notes.ts'
import type { ChatQuirks } from '../quirks.ts'
import type { ChatMessage } from '../api-types.ts'

type OrderRule = (
  messages: readonly ChatMessage[],
  notebook: NoteCollector,
) => readonly ChatMessage[]

/** Those `toldInPlace` are not taken for instructions, also where they stand behind nothing else. */
export function applyMessageOrderRules(
  messages: readonly ChatMessage[],
  toldInPlace: ReadonlySet<ChatMessage>,
  quirks: ChatQuirks,
  notebook: NoteCollector,
): readonly ChatMessage[] {
  const rules: OrderRule[] = []
  if (quirks.systemRole === false) rules.push(replaceSystemRole)
  if (quirks.strictAlternation === true) rules.push(alternateRoles(toldInPlace))
  if (quirks.userAfterTool === false) rules.push(insertAssistantAfterTools)
  if (quirks.prefixCompletion !== undefined) {
    rules.push(quirks.prefixCompletion ? markPrefix(quirks) : appendContinuationRequest(quirks))
  }
  return rules.reduce((so, rule) => rule(so, notebook), messages)
}

const replaceSystemRole: OrderRule = (messages, notebook) =>
  messages.map((message) => {
    if (!isSystem(message)) return message
    notebook.write('system-as-user')
    const lead = 'These instructions hold for the whole conversation:\n'
    return { ...message, role: 'user', content: `${lead}${readText(message.content)}` }
  })

/** Text of the system in front becomes one message; further in it is said by the user. */
function alternateRoles(toldInPlace: ReadonlySet<ChatMessage>): OrderRule {
  return (messages, notebook) => {
    const out: ChatMessage[] = []
    for (const message of messages) {
      const leads = !toldInPlace.has(message) && out.every(isSystem)
      const isInPlace = !isSystem(message) || leads
      if (!isInPlace) notebook.write('system-as-user')
      const next = isInPlace ? message : { ...message, role: 'user' }
      const last = out.at(-1)
      if (last !== undefined && canMerge(last, next)) {
        notebook.write('messages-merged')
        const { role } = last
        out[out.length - 1] = {
          ...last,
          ...next,
          role,
          content: mergeContent(last.content, next.content),
        }
      } else out.push(next)
    }
    const first = out.findIndex((message) => !isSystem(message))
    if (first < 0 || out[first]?.role === 'user') return out
    notebook.write('first-user-line-added')
    return out.toSpliced(first, 0, { role: 'user', content: '(The conversation begins.)' })
  }
}

const insertAssistantAfterTools: OrderRule = (messages, notebook) =>
  messages.flatMap((message, at) => {
    if (message.role !== 'user' || messages[at - 1]?.role !== 'tool') return [message]
    notebook.write('assistant-line-added')
    return [{ role: 'assistant', content: 'I have the output.' }, message]
  })

function markPrefix({ reasoningField }: ChatQuirks): OrderRule {
  return (messages, notebook) => {
    const last = findTrailingAssistantText(messages)
    if (last === null) return messages
    notebook.write('prefix-marked')
    // A thinking model wants to hear that there was no reasoning.
    const reasoning =
      reasoningField === 'reasoning_content' && last['reasoning_content'] === undefined
        ? { reasoning_content: '' }
        : {}
    return [...messages.slice(0, -1), { ...last, ...reasoning, prefix: true }]
  }
}

function appendContinuationRequest(quirks: ChatQuirks): OrderRule {
  return (messages, notebook) => {
    const request = createContinuationRequest(messages, quirks, notebook)
    return request.length === 0 ? messages : [...messages, ...request]
  }
}

/**
 * What the user says behind messages that end with the assistant's own, where the upstream does not
 * go on with these.
 */
export function createContinuationRequest(
  messages: readonly ChatMessage[],
  { prefixCompletion }: ChatQuirks,
  notebook: NoteCollector,
): readonly ChatMessage[] {
  if (prefixCompletion !== false || findTrailingAssistantText(messages) === null) return []
  notebook.write('prefill-as-request')
  const content = 'Go on with your last message exactly where it ends, without repeating any of it.'
  return [{ role: 'user', content }]
}

/** The assistant's message that the model is to go on with, if the conversation ends in one. */
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
 * A name would be lost, or given to what another said. Behind calls come their outputs, and nothing
 * else; in front of them there may be words.
 */
function canMerge(one: ChatMessage, other: ChatMessage): boolean {
  const isOutput = one.role === 'tool' || one.role === 'function'
  const isSameRole = one.role === other.role || (isSystem(one) && isSystem(other))
  return isSameRole && one['name'] === other['name'] && !isOutput && !hasCalls(one)
}

function mergeContent(one: Json | undefined, other: Json | undefined): Json {
  if (other === null || other === undefined) return one ?? null
  if (typeof one === 'string' && typeof other === 'string') return `${one}\n${other}`
  return [...listParts(one), ...listParts(other)]
}

function listParts(content: Json | undefined): readonly Json[] {
  if (Array.isArray(content)) return content as readonly Json[]
  return typeof content === 'string' && content !== '' ? [{ type: 'text', text: content }] : []
}

function readText(content: Json | undefined): string {
  if (typeof content === 'string') return content
  let text = ''
  for (const part of listParts(content)) {
    if (isObject(part)) text += textOrEmpty(part['text'])
  }
  return text
}
