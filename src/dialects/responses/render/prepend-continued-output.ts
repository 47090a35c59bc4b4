/**
 * Prepends the items of an assistant message to the output that continues this message. Open WebUI
 * replaces the complete message by the output of the response, so without these items the user
 * would lose the earlier text, tool calls and tool outputs.
 */
import { itemId } from '../../../core/turn-derived-ids.ts'
import { textOf, type Item } from '../../../core/item.ts'
import type { JsonObject } from '../../../core/json/json.ts'
import { isAssistantMessage, isUserMessage } from '../../../core/items/rounds-and-pinned-items.ts'
import type { AnswerContext } from '../../../core/ports/dialect-interface.ts'

/**
 * Returns the output with the items of the continued message. `output` and the result are JSON
 * lists.
 */
export function prependContinuedOutput(
  output: string,
  { clientRequest, turnId }: AnswerContext,
): string {
  const { items, originalItems = items } = clientRequest
  if (output === '[]' || !isAssistantMessage(originalItems.at(-1))) return output
  const start = originalItems.findLastIndex(isUserMessage) + 1
  const before = originalItems.slice(start).flatMap((item, offset): readonly JsonObject[] => {
    const fields = renderContinuedItem(item)
    const id = itemId(item.type, turnId, start + offset, 'in')
    return fields === null ? [] : [{ id, type: item.type, status: 'completed', ...fields }]
  })
  return before.length === 0 ? output : `${JSON.stringify(before).slice(0, -1)},${output.slice(1)}`
}

/**
 * Renders an item. Returns `null` for types that Open WebUI does not send: it cannot lose items of
 * these types.
 */
function renderContinuedItem(item: Item): JsonObject | null {
  switch (item.type) {
    case 'message': {
      if (item.role !== 'assistant') return null
      const part = { type: 'output_text', text: textOf(item.content), annotations: [] }
      return { role: 'assistant', content: [part] }
    }
    case 'function_call': {
      const { call_id, name, arguments: text } = item
      return { call_id, name, arguments: text }
    }
    case 'function_call_output': {
      const { call_id, output } = item
      // Open WebUI cannot open a chat in which this output is a string.
      return { call_id, output: [{ type: 'input_text', text: textOf(output) }] }
    }
    case 'reasoning':
    case 'custom_tool_call':
    case 'custom_tool_call_output':
    case 'opaque':
      return null
  }
}
