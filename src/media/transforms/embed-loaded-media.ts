/**
 * Puts the media that were loaded in the place of their addresses, for an upstream that does not load
 * them itself. What could not be loaded becomes a notice, so that the model knows of it.
 */
import type { Transform } from '../../context/transform-interface.ts'
import { eachPart } from './map-parts.ts'
import { FAULTS, type LoadedMedia } from '../loading/load-result-types.ts'
import { mediaNotice } from '../hidden-media-notice.ts'
import type { MediaReader } from '../resolve-upstream-media-support.ts'
import { remoteMedium, withMedium } from '../find-and-embed-remote-media.ts'

export function showLoaded(loaded: LoadedMedia, { loads }: MediaReader): Transform {
  return {
    name: 'media',
    steps: 'none',
    run: (items) =>
      eachPart(items, (part) => {
        const medium = remoteMedium(part)
        const found = medium === null ? undefined : loaded.get(medium.url)
        if (medium === null || found === undefined || loads(part, medium.url)) return null
        const { kind } = medium
        if ('base64' in found) {
          const detail = `The ${kind} was loaded from its address, which the upstream does not do.`
          return { part: withMedium(part, found), why: 'media-loaded', detail }
        }
        const why = FAULTS[found.fault]
        const detail = `The ${kind} was not loaded: ${why}. A notice stands in its place.`
        return { part: mediaNotice(kind, why), why: found.fault, detail }
      }),
  }
}
