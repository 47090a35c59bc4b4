/**
 * Detects messages of a Chat Completions client that the upstream does not accept. The caller then
 * encodes all messages again, instead of sending them as the client wrote them.
 */
import { filterObjects } from '../../../core/items/chat-only-fields.ts'
import { isToolOutput, type Item } from '../../../core/item.ts'
import type { Json } from '../../../core/json/json.ts'
import { isAcceptedCallId } from './normalize-call-ids.ts'
import { isMediaPart } from './encode-parts.ts'
import type { ChatEncodingOptions } from './encoding-context.ts'
import type { ChatQuirks } from '../quirk-table.ts'

/**
 * True if the messages must be encoded again. `messages` is the client's JSON; `items` are the same
 * messages after parsing.
 */
export function mustRewriteMessages(
  items: readonly Item[],
  messages: Json | undefined,
  options: ChatEncodingOptions,
): boolean {
  const { strictAlternation, userAfterTool, prefixCompletion, reasoningDemanded } = options.quirks
  if (strictAlternation === true) return true
  if (reasoningDemanded === true && hasCallsWithoutReasoning(messages, options.quirks)) return true
  if (userAfterTool === false && items.some(isToolOutputBeforeUser)) return true
  const last = items.at(-1)
  const endsWithAssistant = last?.type === 'message' && last.role === 'assistant'
  if (prefixCompletion !== undefined && endsWithAssistant) return true
  return items.some((item) => isUnsupportedItem(item, options))
}

function hasCallsWithoutReasoning(
  messages: Json | undefined,
  { reasoningField = 'none' }: ChatQuirks,
): boolean {
  return filterObjects(messages).some(
    (message) =>
      filterObjects(message['tool_calls']).length > 0 &&
      typeof message[reasoningField] !== 'string',
  )
}

function isToolOutputBeforeUser(item: Item, index: number, items: readonly Item[]): boolean {
  const next = items[index + 1]
  return isToolOutput(item) && next?.type === 'message' && next.role === 'user'
}

function isUnsupportedItem(item: Item, options: ChatEncodingOptions): boolean {
  const { customTools, callIdPattern, toolMedia, developerRole, quirks } = options
  switch (item.type) {
    case 'message':
      if (item.role === 'developer' && !developerRole) return true
      if (quirks.messageNames === false && item.native?.['chat']?.['name'] !== undefined)
        return true
      return quirks.systemRole === false && (item.role === 'system' || item.role === 'developer')
    case 'custom_tool_call':
      return !customTools || !isAcceptedCallId(item.call_id, callIdPattern)
    case 'function_call':
      return !isAcceptedCallId(item.call_id, callIdPattern)
    case 'function_call_output':
    case 'custom_tool_call_output':
      return !toolMedia && typeof item.output !== 'string' && item.output.some(isMediaPart)
    case 'reasoning':
    case 'opaque':
      return false
  }
}
