/**
 * An item as it stands in a list: with an id and a status, and otherwise as it was said. In an answer
 * everything is told in the words of the model; here a question stays a question.
 */
import type { Item, Message, Part } from '../../../core/item.ts'
import type { Json, JsonObject } from '../../../core/json/json.ts'
import { renderItem, type ItemEndStatus } from './render-item.ts'
import type { ReasoningVisibility } from './reasoning-visibility.ts'

export function renderListedItem(
  item: Item,
  id: string,
  ending: ItemEndStatus,
  view: ReasoningVisibility,
): JsonObject {
  switch (item.type) {
    case 'message':
      return item.role === 'assistant' ? renderItem(item, id, ending, view) : question(item, id)
    case 'function_call_output':
    case 'custom_tool_call_output': {
      const { native: _native, origin: _origin, output, ...own } = item
      const said: Json = typeof output === 'string' ? output : output.map(asSaid)
      return { ...own, id, status: own.status ?? 'completed', output: said }
    }
    case 'function_call':
    case 'custom_tool_call':
    case 'reasoning':
    case 'opaque':
      return renderItem(item, id, ending, view)
  }
}

function question(
  { native: _native, origin: _origin, content, ...own }: Message,
  id: string,
): JsonObject {
  return { ...own, id, status: own.status ?? 'completed', content: content.map(asSaid) }
}

function asSaid(part: Part): JsonObject {
  return part.type === 'opaque' ? part.raw : { ...part }
}
