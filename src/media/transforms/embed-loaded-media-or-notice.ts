/**
 * Replaces URLs by the loaded media, for upstreams that do not load URLs. A URL that could not be
 * loaded is replaced by a notice, so that the model knows about it.
 */
import { ITEM_TRAITS } from '../../context/detect-item-traits.ts'
import type { Transform } from '../../context/transform-interface.ts'
import { mapParts } from './map-parts.ts'
import { LOAD_FAULT_REASONS, type LoadedMedia } from '../loading/load-result-types.ts'
import { createHiddenMediaNotice } from '../create-hidden-media-notice.ts'
import type { UpstreamMediaUrlsAndLimits } from '../resolve-upstream-media-urls-and-limits.ts'
import { findRemoteMedia, embedMedia } from '../find-and-embed-remote-media.ts'

export function embedLoadedMediaOrNotice(
  loaded: LoadedMedia,
  { loadsUrl }: UpstreamMediaUrlsAndLimits,
): Transform {
  return {
    name: 'media',
    requiredTraits: ITEM_TRAITS.media,
    prefixChanges: 'never',
    run: (items) =>
      mapParts(items, (part) => {
        const medium = findRemoteMedia(part)
        const result = medium === null ? undefined : loaded.get(medium.url)
        if (medium === null || result === undefined || loadsUrl(part, medium.url)) return null
        const { kind } = medium
        if ('base64' in result) {
          const detail = `The ${kind} was loaded from its address, which the upstream does not do.`
          return { part: embedMedia(part, result), why: 'media-loaded', detail }
        }
        const why = LOAD_FAULT_REASONS[result.fault]
        const detail = `The ${kind} was not loaded: ${why}. A notice stands in its place.`
        return { part: createHiddenMediaNotice(kind, why), why: result.fault, detail }
      }),
  }
}
