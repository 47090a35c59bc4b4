/**
 * Takes away the markers that are left when turns have been put in their places: names of turns that
 * nobody knows, and copies of them in what others say, in calls and in what tools have found. A model
 * that sees one writes such lines itself. Thoughts stay as they are: a provider has signed them, and no
 * client is given a marker in them.
 */
import { textOfPart, type Item, type Part } from '../../core/item.ts'
import { setContentParts, replaceContentParts } from '../../core/items/replace-content-parts.ts'
import { removeMarkers } from '../../core/markers/remove-markers.ts'
import { replaceItems } from '../map-items-with-notes.ts'
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

/** The very same item if there is none. */
export function stripItemMarkers(item: Item): Item {
  switch (item.type) {
    case 'message':
      return unmarkedParts(item, item.content)
    case 'function_call_output':
    case 'custom_tool_call_output': {
      const { output } = item
      if (typeof output !== 'string') return unmarkedParts(item, output)
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

/** A part of which nothing is left goes, but not the last. */
function unmarkedParts(item: Item, parts: readonly Part[]): Item {
  if (parts.every((part) => unmarkedPart(part) === part)) return item
  const stripped = parts.map(unmarkedPart)
  const left = stripped.filter((part, at) => part === parts[at] || saysSomething(part))
  if (left.length === parts.length) return setContentParts(item, left)
  return replaceContentParts(item, left.length > 0 ? left : stripped.slice(0, 1))
}

function unmarkedPart(part: Part): Part {
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

function saysSomething(part: Part): boolean {
  return textOfPart(part) !== ''
}
