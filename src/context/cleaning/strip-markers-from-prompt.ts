/**
 * Removes markers from everything that the model reads: markers of unknown turns in answers, and copies in
 * user messages, calls and tool outputs. A model that sees markers starts to write them itself. Reasoning is
 * not searched: providers sign it, and the gateway writes no markers into it.
 */
import { textOfPart, type Item, type Part } from '../../core/item.ts'
import { setContentParts, replaceContentParts } from '../../core/items/replace-content-parts.ts'
import { removeMarkers } from '../../core/markers/remove-markers.ts'
import { replaceItems } from '../edit-items.ts'
import { ITEM_TRAITS } from '../scan-items.ts'
import type { Transform } from '../transform-interface.ts'

export function stripMarkers(): Transform {
  return {
    name: 'strip-markers',
    needs: ITEM_TRAITS.markerText,
    prefixStability: 'none',
    run: (items) => replaceItems(items, stripItemMarkers, 'marker-removed'),
  }
}

/** Returns the same item if it contains no marker. */
export function stripItemMarkers(item: Item): Item {
  switch (item.type) {
    case 'message':
      return stripParts(item, item.content)
    case 'function_call_output':
    case 'custom_tool_call_output': {
      const { output } = item
      if (typeof output !== 'string') return stripParts(item, output)
      const stripped = removeMarkers(output)
      return stripped === output ? item : { ...item, output: stripped }
    }
    case 'function_call': {
      const stripped = removeMarkers(item.arguments)
      return stripped === item.arguments ? item : { ...item, arguments: stripped }
    }
    case 'custom_tool_call': {
      const stripped = removeMarkers(item.input)
      return stripped === item.input ? item : { ...item, input: stripped }
    }
    case 'reasoning':
    case 'opaque':
      return item
  }
}

/** Drops a part that becomes empty, but keeps one part of each item. */
function stripParts(item: Item, parts: readonly Part[]): Item {
  if (parts.every((part) => stripPart(part) === part)) return item
  const stripped = parts.map(stripPart)
  const nonEmpty = stripped.filter(
    (part, index) => part === parts[index] || textOfPart(part) !== '',
  )
  if (nonEmpty.length === parts.length) return setContentParts(item, nonEmpty)
  return replaceContentParts(item, nonEmpty.length > 0 ? nonEmpty : stripped.slice(0, 1))
}

function stripPart(part: Part): Part {
  switch (part.type) {
    case 'input_text':
    case 'output_text': {
      const text = removeMarkers(part.text)
      return text === part.text ? part : { ...part, text }
    }
    case 'refusal': {
      const refusal = removeMarkers(part.refusal)
      return refusal === part.refusal ? part : { ...part, refusal }
    }
    case 'input_image':
    case 'input_file':
    case 'input_audio':
    case 'opaque':
      return part
  }
}
