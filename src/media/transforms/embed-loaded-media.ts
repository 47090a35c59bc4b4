/**
 * Replaces URLs by the loaded media, for upstreams that do not load URLs. Media that could not be
 * loaded becomes a notice, so the model knows about it.
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
