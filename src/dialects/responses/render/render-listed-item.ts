/**
 * Renders an item for a list of stored items. Input messages and tool outputs keep their original parts
 * (`input_text`), while in an answer all parts are rendered as output of the model.
 */
import type { Item, Message, Part } from '../../../core/item.ts'
import type { Json, JsonObject } from '../../../core/json/json.ts'
import { renderItem, type ItemEndStatus } from './render-item.ts'
import type { ReasoningVisibility } from './reasoning-visibility.ts'

export function renderListedItem(
  item: Item,
  id: string,
  status: ItemEndStatus,
  visibility: ReasoningVisibility,
): JsonObject {
  switch (item.type) {
    case 'message':
      return item.role === 'assistant'
        ? renderItem(item, id, status, visibility)
        : renderInputMessage(item, id)
    case 'function_call_output':
    case 'custom_tool_call_output': {
      const { native: _native, origin: _origin, output, ...fields } = item
      const rendered: Json = typeof output === 'string' ? output : output.map(renderOriginalPart)
      return { ...fields, id, status: fields.status ?? 'completed', output: rendered }
    }
    case 'function_call':
    case 'custom_tool_call':
    case 'reasoning':
    case 'opaque':
      return renderItem(item, id, status, visibility)
  }
}

function renderInputMessage(
  { native: _native, origin: _origin, content, ...fields }: Message,
  id: string,
): JsonObject {
  const status = fields.status ?? 'completed'
  return { ...fields, id, status, content: content.map(renderOriginalPart) }
}

function renderOriginalPart(part: Part): JsonObject {
  return part.type === 'opaque' ? part.raw : { ...part }
}
