/**
 * Writes items as a client would in its dialect. Chat has no form for OpenAI's provider tools, and no message
 * there has two calls with the same id.
 */
import { textOf, type Item, type Role } from '../../src/core/item.ts'
import type { JsonObject } from '../../src/core/json/json.ts'
import { UNPAIRED, findToolCallPairs } from '../../src/core/items/tool-call-pairs.ts'

export function toResponsesInput(items: readonly Item[]): readonly JsonObject[] {
  return items.map((item) => (item.type === 'opaque' ? item.raw : (item as unknown as JsonObject)))
}

export function toChatMessages(items: readonly Item[]): readonly JsonObject[] {
  const partners = findToolCallPairs(items)
  const ids = new Map<number, string>()
  const messages: Record<string, unknown>[] = []
  let reasoning: JsonObject = {}
  const assistant = (fields: JsonObject): void => {
    messages.push({ role: 'assistant', ...reasoning, ...fields })
    reasoning = {}
  }
  /** Text between two calls goes into the message with the calls. */
  const say = (role: Role, content: string): void => {
    const last = messages.at(-1)
    if (role !== 'assistant') messages.push({ role, content })
    else if (last !== undefined && callsOf(last).length > 0) last['content'] ??= content
    else assistant({ content })
  }
  for (const [at, item] of items.entries()) {
    switch (item.type) {
      case 'message':
        say(item.role, textOf(item.content))
        break
      case 'reasoning': {
        const text = item.summary.map((part) => part.text).join('')
        if (text !== '') reasoning = { reasoning_content: text }
        break
      }
      case 'function_call':
      case 'custom_tool_call': {
        // Reasoning between two calls has no position in a chat message.
        if (callsOf(messages.at(-1)).length > 0) reasoning = {}
        else if (messages.at(-1)?.['role'] !== 'assistant' || reasoning['reasoning_content']) {
          assistant({ content: null })
        }
        const message = messages.at(-1) ?? {}
        const calls = callsOf(message)
        // Some services number their calls from 0 in every answer.
        ids.set(at, `call_${calls.length}`)
        message['tool_calls'] = [...calls, callOf(item, ids.get(at) ?? '')]
        break
      }
      case 'function_call_output':
      case 'custom_tool_call_output':
        messages.push({
          role: 'tool',
          tool_call_id: ids.get(partners[at] ?? UNPAIRED) ?? 'call_lost',
          content: textOf(item.output),
        })
        break
      case 'opaque':
    }
  }
  return messages as readonly JsonObject[]
}

function callsOf(message: Readonly<Record<string, unknown>> | undefined): readonly unknown[] {
  return (message?.['tool_calls'] ?? []) as readonly unknown[]
}

function callOf(
  item: Extract<Item, { readonly type: 'function_call' | 'custom_tool_call' }>,
  id: string,
): JsonObject {
  const { name } = item
  return item.type === 'function_call'
    ? { id, type: 'function', function: { name, arguments: item.arguments } }
    : { id, type: 'custom', custom: { name, input: item.input } }
}
