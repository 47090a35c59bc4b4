/**
 * Which media do not fit into a request any more. The newest stay: what the user has just shown
 * matters most. https://ai.google.dev/gemini-api/docs/file-input-methods
 */
import type { Item, OpaqueItem, Part } from '../../../../core/item.ts'
import { classifyMedia } from './classify-media.ts'

export function findMediaOverSizeLimit(
  items: readonly Item[],
  limitBytes: number,
): ReadonlySet<Part | OpaqueItem> {
  const over = new Set<Part | OpaqueItem>()
  let bytes = 0
  for (const holder of items.toReversed()) {
    for (const medium of mediaIn(holder).toReversed()) {
      const size = sizeOf(medium)
      // What is larger than all of the rest together does not push out what still fits.
      if (bytes + size > limitBytes) over.add(medium)
      else bytes += size
    }
  }
  return over
}

function mediaIn(item: Item): readonly (Part | OpaqueItem)[] {
  switch (item.type) {
    case 'message':
      return item.content
    case 'function_call_output':
    case 'custom_tool_call_output':
      return typeof item.output === 'string' ? [] : item.output
    case 'opaque':
      return [item]
    case 'function_call':
    case 'custom_tool_call':
    case 'reasoning':
      return []
  }
}

function sizeOf(medium: Part | OpaqueItem): number {
  if (medium.type === 'opaque' && typeof medium.raw['result'] === 'string') {
    return medium.raw['result'].length
  }
  const media = classifyMedia(medium, false)
  return media?.kind === 'inline' ? media.blob.data.length : 0
}
