/**
 * Finds the media that must be left out to keep a request below Gemini's size limit. The latest
 * media are sent first, because the user's last message matters most.
 * https://ai.google.dev/gemini-api/docs/file-input-methods
 */
import type { Item, OpaqueItem, Part } from '../../../../core/item.ts'
import { classifyMedia } from './classify-media.ts'

export function findMediaOverSizeLimit(
  items: readonly Item[],
  limitBytes: number,
): ReadonlySet<Part | OpaqueItem> {
  const oversized = new Set<Part | OpaqueItem>()
  let bytes = 0
  for (const item of items.toReversed()) {
    for (const part of listParts(item).toReversed()) {
      const size = countInlineChars(part)
      // A medium that does not fit is left out, and the search continues, because an older, smaller
      // medium may fit.
      if (bytes + size > limitBytes) oversized.add(part)
      else bytes += size
    }
  }
  return oversized
}

function listParts(item: Item): readonly (Part | OpaqueItem)[] {
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

function countInlineChars(part: Part | OpaqueItem): number {
  if (part.type === 'opaque' && typeof part.raw['result'] === 'string') {
    return part.raw['result'].length
  }
  const media = classifyMedia(part, false)
  return media?.kind === 'inline' ? media.blob.data.length : 0
}
