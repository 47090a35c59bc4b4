/** Replaces content parts and adds a note for each; returns the same list if nothing changed. */
import { readChatOnlyFields } from '../../core/items/chat-only-fields.ts'
import type { Item, Part } from '../../core/item.ts'
import type { Json } from '../../core/json/json.ts'
import { listContentParts } from '../../core/media/media-handles.ts'
import type { Note } from '../../core/note.ts'
import { replaceContentParts } from '../../core/items/replace-content-parts.ts'
import type { TransformResult } from '../../context/transform-interface.ts'

export interface PartChange {
  readonly part: Part
  readonly why: string
  readonly detail: string
}

/**
 * Replaces each part for which `change` does not return `null`. `extraFields` contains the unknown
 * fields that a Chat Completions client wrote into the part.
 */
export function mapParts(
  items: readonly Item[],
  change: (part: Part, index: number, extraFields: Json) => PartChange | null,
): TransformResult {
  const notes: Note[] = []
  let changedItems: Item[] | null = null
  // Index loops are faster here: this code reads all items of every request, and most are text
  // only.
  for (let index = 0; index < items.length; index += 1) {
    const item = items[index] as Item
    const contentParts = listContentParts(item)
    const clientParts = readChatOnlyFields(item).$parts
    // Items that were stored before the gateway rejected client fields of this name may hold any
    // value.
    const extras: readonly Json[] = Array.isArray(clientParts) ? clientParts : []
    let parts: Part[] | null = null
    for (let partIndex = 0; partIndex < contentParts.length; partIndex += 1) {
      const changed = change(contentParts[partIndex] as Part, index, extras[partIndex] ?? null)
      if (changed === null) continue
      parts ??= [...contentParts]
      parts[partIndex] = changed.part
      notes.push({ did: 'changed', at: index, why: changed.why, detail: changed.detail })
    }
    if (parts === null) continue
    changedItems ??= [...items]
    changedItems[index] = replaceContentParts(item, parts)
  }
  return { items: changedItems ?? items, notes }
}
