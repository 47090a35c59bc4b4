/**
 * Takes away the markers that are left when turns have been put in their places: names of turns that
 * nobody knows, and copies of them in what others say. A model that sees one writes such lines itself.
 */
import type { Item, Part } from '../conversation/item.ts'
import { readMarkers } from '../conversation/marker.ts'
import type { Note } from '../conversation/note.ts'
import type { Transform } from './transform.ts'

export function stripMarkers(): Transform {
  return {
    name: 'strip-markers',
    steps: 'none',
    run(items) {
      const notes: Note[] = []
      const rebuilt = items.map((item, at) => {
        const stripped = withoutMarkers(item)
        if (stripped !== item) notes.push({ did: 'changed', at, why: 'marker-removed' })
        return stripped
      })
      return notes.length === 0 ? { items, notes } : { items: rebuilt, notes }
    },
  }
}

function withoutMarkers(item: Item): Item {
  switch (item.type) {
    case 'message': {
      const content = strippedParts(item.content)
      return content === item.content ? item : { ...item, content }
    }
    case 'function_call_output':
    case 'custom_tool_call_output': {
      const { output } = item
      const stripped = typeof output === 'string' ? readMarkers(output).text : strippedParts(output)
      return stripped === output ? item : { ...item, output: stripped }
    }
    case 'function_call':
    case 'custom_tool_call':
    case 'reasoning':
    case 'opaque':
      return item
  }
}

/** The same list where there is no marker. A part of which nothing is left goes, but not the last. */
function strippedParts(parts: readonly Part[]): readonly Part[] {
  let emptied: Set<Part> | null = null
  let isChanged = false
  const stripped = parts.map((part) => {
    if (part.type !== 'input_text' && part.type !== 'output_text') return part
    const { text } = readMarkers(part.text)
    if (text === part.text) return part
    isChanged = true
    const rest = { ...part, text }
    if (text === '') (emptied ??= new Set()).add(rest)
    return rest
  })
  if (!isChanged) return parts
  if (emptied === null) return stripped
  const gone: ReadonlySet<Part> = emptied
  const left = stripped.filter((part) => !gone.has(part))
  return left.length > 0 ? left : stripped.slice(0, 1)
}
