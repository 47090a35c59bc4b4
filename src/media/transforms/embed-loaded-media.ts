/**
 * Puts the media that were loaded in the place of their addresses, for an upstream that does not load
 * them itself. What could not be loaded becomes a notice, so that the model knows of it.
 */
import { ITEM_TRAITS } from '../../context/scan-items.ts'
import type { Transform } from '../../context/transform-interface.ts'
import { mapParts } from './map-parts.ts'
import { LOAD_FAULT_REASONS, type LoadedMedia } from '../loading/load-result-types.ts'
import { createHiddenMediaNotice } from '../hidden-media-notice.ts'
import type { UpstreamMediaSupport } from '../resolve-upstream-media-support.ts'
import { findRemoteMedia, embedMedia } from '../find-and-embed-remote-media.ts'

export function embedLoadedMedia(
  loaded: LoadedMedia,
  { loadsUrl }: UpstreamMediaSupport,
): Transform {
  return {
    name: 'media',
    needs: ITEM_TRAITS.media,
    prefixStability: 'none',
    run: (items) =>
      mapParts(items, (part) => {
        const medium = findRemoteMedia(part)
        const found = medium === null ? undefined : loaded.get(medium.url)
        if (medium === null || found === undefined || loadsUrl(part, medium.url)) return null
        const { kind } = medium
        if ('base64' in found) {
          const detail = `The ${kind} was loaded from its address, which the upstream does not do.`
          return { part: embedMedia(part, found), why: 'media-loaded', detail }
        }
        const why = LOAD_FAULT_REASONS[found.fault]
        const detail = `The ${kind} was not loaded: ${why}. A notice stands in its place.`
        return { part: createHiddenMediaNotice(kind, why), why: found.fault, detail }
      }),
  }
}
