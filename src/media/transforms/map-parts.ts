/** Puts other parts in the place of some, with a note on each. The very same list, if all are fine. */
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
 * `change` gives `null` for a part that is to stay, as nearly all do. `beside` is what else the client has
 * written into it, if chat has brought it.
 */
export function mapParts(
  items: readonly Item[],
  change: (part: Part, at: number, beside: Json) => PartChange | null,
): TransformResult {
  const notes: Note[] = []
  let rebuilt: Item[] | null = null
  // Counted, because all that a client sends goes by here, and nearly none of it is anything but text.
  for (let at = 0; at < items.length; at += 1) {
    const item = items[at] as Item
    const before = listContentParts(item)
    const said = readChatOnlyFields(item).$parts
    // What was kept before such names were refused may hold anything.
    const extras: readonly Json[] = Array.isArray(said) ? said : []
    let parts: Part[] | null = null
    for (let place = 0; place < before.length; place += 1) {
      const changed = change(before[place] as Part, at, extras[place] ?? null)
      if (changed === null) continue
      parts ??= [...before]
      parts[place] = changed.part
      notes.push({ did: 'changed', at, why: changed.why, detail: changed.detail })
    }
    if (parts === null) continue
    rebuilt ??= [...items]
    rebuilt[at] = replaceContentParts(item, parts)
  }
  return { items: rebuilt ?? items, notes }
}
