/**
 * Open WebUI puts the output of a completed response in the place of everything that its message held.
 * Where it asked to have that message continued, the output begins therefore with what was there, or
 * the user would lose it: words, and the calls and results of an earlier loop.
 */
import { itemId } from '../../../core/turn-derived-ids.ts'
import { textOf, type Item } from '../../../core/item.ts'
import type { JsonObject } from '../../../core/json/json.ts'
import { isAssistantMessage, isUserMessage } from '../../../core/items/rounds-and-pinned-items.ts'
import type { AnswerContext } from '../../../core/ports/dialect-interface.ts'

/** `output` is a list as JSON, and so is what comes of it. */
export function prependContinuedOutput(
  output: string,
  { clientRequest, turnId }: AnswerContext,
): string {
  const { items, originalItems = items } = clientRequest
  if (output === '[]' || !isAssistantMessage(originalItems.at(-1))) return output
  const from = originalItems.findLastIndex(isUserMessage) + 1
  const before = originalItems.slice(from).flatMap((item, at): readonly JsonObject[] => {
    const told = toldAgain(item)
    const id = itemId(item.type, turnId, from + at, 'in')
    return told === null ? [] : [{ id, type: item.type, status: 'completed', ...told }]
  })
  return before.length === 0 ? output : `${JSON.stringify(before).slice(0, -1)},${output.slice(1)}`
}

/** `null` for what it does not send, and so cannot lose. */
function toldAgain(item: Item): JsonObject | null {
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
      // As a list: a plain string would spoil the chat for ever.
      return { call_id, output: [{ type: 'input_text', text: textOf(output) }] }
    }
    case 'reasoning':
    case 'custom_tool_call':
    case 'custom_tool_call_output':
    case 'opaque':
      return null
  }
}
