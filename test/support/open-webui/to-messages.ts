/** Converts stored items to the messages of the next request. Reasoning is lost here. */
import type { JsonObject } from '../../../src/core/json/json.ts'
import { shownText, type StoredCall, type StoredItem } from './stored-item.ts'

export interface ChatMessage {
  readonly role: 'system' | 'user' | 'assistant' | 'tool'
  readonly content: string | readonly JsonObject[]
  readonly tool_calls?: readonly JsonObject[]
  readonly tool_call_id?: string
  readonly reasoning_details?: readonly JsonObject[]
  readonly reasoning_content?: string
}

/** `keepsReasoning` is true only for connections to llama.cpp. */
export function toMessages(
  items: readonly StoredItem[],
  keepsReasoning = false,
): readonly ChatMessage[] {
  const messages: ChatMessage[] = []
  let open: StoredItem[] = []
  const flush = (): void => {
    const message = assistantMessage(open, keepsReasoning)
    if (message !== null) messages.push(message)
    open = []
  }
  for (const item of dropUnpairedCalls(items)) {
    if (item.type !== 'function_call_output') {
      open.push(item)
      continue
    }
    if (open.length > 0) flush()
    const { callId, parts } = item
    // A real chat fails here with "'str' object has no attribute 'get'" in every later turn.
    if (typeof parts === 'string') throw new Error(`The output of ${callId} is a plain string.`)
    messages.push({ role: 'tool', tool_call_id: callId, content: parts.join('') })
  }
  if (open.length > 0) flush()
  return messages.length === 0 ? [{ role: 'assistant', content: '' }] : messages
}

function assistantMessage(items: readonly StoredItem[], keeps: boolean): ChatMessage | null {
  const calls = items.filter((item) => item.type === 'function_call')
  const reasoning = items.filter((item) => item.type === 'reasoning')
  const details = reasoning.flatMap(({ details }) => details)
  const thought = reasoning.map(({ text }) => text).join('\n')
  const isSaid = calls.length > 0 || items.some(({ type }) => type === 'message')
  if (!isSaid) return null
  return {
    role: 'assistant',
    content: shownText(items),
    ...(calls.length === 0 ? {} : { tool_calls: calls.map(toolCall) }),
    ...(details.length === 0 ? {} : { reasoning_details: details }),
    ...(keeps && thought !== '' ? { reasoning_content: thought } : {}),
  }
}

function toolCall({ callId, name, args }: StoredCall): JsonObject {
  return { id: callId, type: 'function', function: { name, arguments: args } }
}

function dropUnpairedCalls(items: readonly StoredItem[]): readonly StoredItem[] {
  const ids = (type: StoredItem['type']) =>
    new Set(items.flatMap((item) => (item.type === type && 'callId' in item ? [item.callId] : [])))
  const called = ids('function_call')
  const answered = ids('function_call_output')
  return items.filter(
    (item) =>
      (item.type !== 'function_call' || answered.has(item.callId)) &&
      (item.type !== 'function_call_output' || called.has(item.callId)),
  )
}
