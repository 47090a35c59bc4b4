/**
 * Removes markers (`[<20 characters>]: #`, which name stored turns) from all texts that the model reads. A model that
 * sees markers starts to write them itself. Recall has already removed the markers of answers, unless it is off; this
 * transform also removes those that users and tools quote. Reasoning is not searched: providers sign it, and the
 * gateway writes no markers into it.
 */
import { textOfPart, type Item, type Part } from '../../core/item.ts'
import { setContentParts, replaceContentParts } from '../../core/items/replace-content-parts.ts'
import { removeMarkers } from '../../core/markers/remove-markers.ts'
import { replaceItems } from '../edit-items.ts'
import { ITEM_TRAITS } from '../detect-item-traits.ts'
import type { Transform } from '../transform-interface.ts'

export function stripMarkersFromPrompt(): Transform {
  return {
    name: 'strip-markers',
    requiredTraits: ITEM_TRAITS.markerText,
    prefixChanges: 'never',
    run: (items) => replaceItems(items, stripItemMarkers, 'marker-removed'),
  }
}

/** Removes the markers from all texts of an item. Returns the same item if it contains none. */
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

/**
 * Removes markers from the content parts of an item. A part that contained only markers is dropped, unless the item
 * would have no part left.
 */
function stripParts(item: Item, parts: readonly Part[]): Item {
  const stripped = parts.map(stripPart)
  if (stripped.every((part, index) => part === parts[index])) return item
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
