/**
 * Addresses that no upstream is to be told: those of this network, for a server that stands in it would
 * load what only it can see, and those that are none of the web. They become a notice, whoever is asked.
 */
import { isDataUrl } from '../../core/media/data-url.ts'
import type { Part } from '../../core/item.ts'
import { isObject, type JsonObject } from '../../core/json/json.ts'
import type { MediaKind } from '../../core/media/content-part-media.ts'
import { ITEM_TRAITS } from '../../context/scan-items.ts'
import type { Transform } from '../../context/transform-interface.ts'
import { mapParts, type PartChange } from './map-parts.ts'
import { LOAD_FAULT_REASONS } from '../loading/load-result-types.ts'
import { createHiddenMediaNotice } from '../hidden-media-notice.ts'
import type { UpstreamMediaSupport } from '../resolve-upstream-media-support.ts'
import { hasUrlScheme, isPublicUrl, type AllowedHost } from '../loading/check-url-safety.ts'

export function blockPrivateUrls(
  { schemes }: Pick<UpstreamMediaSupport, 'schemes'>,
  allowed: readonly AllowedHost[],
): Transform {
  const isFine = (url: string): boolean =>
    isDataUrl(url) || schemes.some((scheme) => url.startsWith(scheme)) || isPublicUrl(url, allowed)
  return {
    name: 'media',
    needs: ITEM_TRAITS.media,
    prefixStability: 'none',
    run: (items) =>
      mapParts(items, (part, _, beside) => {
        const all = isObject(beside)
          ? [...addressesOf(part), ...addressesIn(beside)]
          : addressesOf(part)
        const refused = all.find(({ url }) => !isFine(url))
        return refused === undefined ? null : notAsked(refused.kind)
      }),
  }
}

interface Address {
  readonly kind: MediaKind
  readonly url: string
}

function addressesOf(part: Part): readonly Address[] {
  switch (part.type) {
    case 'input_image': {
      const { image_url: url, file_id: id } = part
      return typeof url === 'string' && (url !== '' || typeof id !== 'string')
        ? [{ kind: 'image', url }]
        : NONE
    }
    case 'input_file': {
      const { file_url: url, file_data, file_id: id } = part
      const isSaid = url !== undefined && (url !== '' || typeof id !== 'string')
      const urls = [...(isSaid ? [url] : []), ...schemed(file_data)]
      return urls.map((url) => ({ kind: 'file', url }))
    }
    case 'input_audio':
      return schemed(part.input_audio.data).map((url) => ({ kind: 'audio', url }))
    case 'opaque':
      return addressesIn(part.raw)
    case 'input_text':
    case 'output_text':
    case 'refusal':
      return NONE
  }
}

const NONE: readonly Address[] = []

/** Where base64 belongs, some services take an address. */
function schemed(data: string | undefined): readonly string[] {
  return data !== undefined && hasUrlScheme(data) ? [data] : []
}

/** As several services write it: `{ type: 'video_url', video_url: { url } }`, or `{ file: { file_url } }`. */
function addressesIn(raw: JsonObject): readonly Address[] {
  return NAMED.flatMap(([field, kind]) => {
    const said = raw[field]
    const texts = isObject(said) ? [said['url'], said[`${kind}_url`]] : [said]
    return texts.flatMap((url) =>
      typeof url === 'string' && hasUrlScheme(url) ? [{ kind, url }] : [],
    )
  })
}

const NAMED: readonly (readonly [field: string, kind: MediaKind])[] = [
  ['video_url', 'video'],
  ['audio_url', 'audio'],
  ['image_url', 'image'],
  ['file_url', 'file'],
  ['video', 'video'],
  ['audio', 'audio'],
  ['image', 'image'],
  ['file', 'file'],
]

function notAsked(kind: MediaKind): PartChange {
  const why = LOAD_FAULT_REASONS['media-blocked']
  const detail = `The ${kind} is not passed on: ${why}. A notice stands in its place.`
  return { part: createHiddenMediaNotice(kind, why), why: 'media-blocked', detail }
}
