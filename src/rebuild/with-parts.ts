/**
 * An item with other parts. What a wire said of the old ones by their place is taken away with them:
 * put to the new ones, it would bring back what they stand for.
 */
import type { Item, Part } from '../conversation/item.ts'

export function withParts(item: Item, parts: readonly Part[]): Item {
  const { native } = item
  if (native?.['chat']?.['$parts'] !== undefined) {
    const { $parts: _parts, ...chat } = native['chat']
    return withParts({ ...item, native: { ...native, chat } }, parts)
  }
  switch (item.type) {
    case 'message':
      return { ...item, content: parts }
    case 'function_call_output':
    case 'custom_tool_call_output':
      return { ...item, output: parts }
    case 'function_call':
    case 'custom_tool_call':
    case 'reasoning':
    case 'opaque':
      return item
  }
}
