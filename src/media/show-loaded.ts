/**
 * Puts the media that were loaded in the place of their addresses, for an upstream that does not load
 * them itself. What could not be loaded becomes a notice, so that the model knows of it.
 */
import type { Item, Part } from '../conversation/item.ts'
import { partsOf } from '../conversation/media-handles.ts'
import type { Note } from '../conversation/note.ts'
import type { Transform } from '../rebuild/transform.ts'
import { FAULTS, type LoadedMedia } from './loaded-media.ts'
import { mediaNotice } from './media-notice.ts'
import type { MediaReader } from './media-reader.ts'
import { remoteMedium, withMedium, withParts } from './remote-medium.ts'

export function showLoaded(loaded: LoadedMedia, { loads }: MediaReader): Transform {
  return {
    name: 'media',
    run(items) {
      const notes: Note[] = []
      const shown = items.map((item, at) => withLoaded(item, at))
      return notes.length === 0 ? { items, notes } : { items: shown, notes }

      function withLoaded(item: Item, at: number): Item {
        const parts = partsOf(item)
        if (!parts.some((part) => remoteMedium(part) !== null)) return item
        const changed = parts.map((part) => shownPart(part, at))
        return changed.every((part, place) => part === parts[place])
          ? item
          : withParts(item, changed)
      }

      function shownPart(part: Part, at: number): Part {
        const medium = remoteMedium(part)
        const found = medium === null ? undefined : loaded.get(medium.url)
        if (medium === null || found === undefined || loads(part, medium.url)) return part
        const { kind } = medium
        if ('base64' in found) {
          const detail = `The ${kind} was loaded from its address, which the upstream does not do.`
          notes.push({ did: 'changed', at, why: 'media-loaded', detail })
          return withMedium(part, found)
        }
        const why = FAULTS[found.fault]
        const detail = `The ${kind} was not loaded: ${why}. A notice stands in its place.`
        notes.push({ did: 'changed', at, why: found.fault, detail })
        return mediaNotice(kind, why)
      }
    },
  }
}
