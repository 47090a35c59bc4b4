/**
 * Replaces URLs by a notice if no upstream may get them: private URLs, because an upstream in the
 * same network could load them, and URLs that are not on the web, e.g. `file:`.
 */
import { isDataUrl } from '../../core/media/data-url.ts'
import type { Part } from '../../core/item.ts'
import { isObject, type JsonObject } from '../../core/json/json.ts'
import type { MediaKind } from '../../core/media/content-part-media.ts'
import { ITEM_TRAITS } from '../../context/detect-item-traits.ts'
import type { Transform } from '../../context/transform-interface.ts'
import { mapParts, type PartChange } from './map-parts.ts'
import { LOAD_FAULT_REASONS } from '../loading/load-result-types.ts'
import { createHiddenMediaNotice } from '../create-hidden-media-notice.ts'
import type { UpstreamMediaUrlsAndLimits } from '../resolve-upstream-media-urls-and-limits.ts'
import { hasUrlScheme, isPublicUrl, type AllowedHost } from '../loading/check-url-safety.ts'

export function blockPrivateUrls(
  { schemes }: Pick<UpstreamMediaUrlsAndLimits, 'schemes'>,
  allowed: readonly AllowedHost[],
): Transform {
  const isAllowed = (url: string): boolean =>
    isDataUrl(url) || schemes.some((scheme) => url.startsWith(scheme)) || isPublicUrl(url, allowed)
  return {
    name: 'media',
    requiredTraits: ITEM_TRAITS.media,
    prefixChanges: 'never',
    run: (items) =>
      mapParts(items, (part, _, extraFields) => {
        const urls = isObject(extraFields)
          ? [...listPartUrls(part), ...listRawUrls(extraFields)]
          : listPartUrls(part)
        const blocked = urls.find(({ url }) => !isAllowed(url))
        return blocked === undefined ? null : createBlockedChange(blocked.kind)
      }),
  }
}

interface MediaUrl {
  readonly kind: MediaKind
  readonly url: string
}

function listPartUrls(part: Part): readonly MediaUrl[] {
  switch (part.type) {
    case 'input_image': {
      const { image_url: url, file_id: id } = part
      return typeof url === 'string' && (url !== '' || typeof id !== 'string')
        ? [{ kind: 'image', url }]
        : NO_URLS
    }
    case 'input_file': {
      const { file_url: url, file_data, file_id: id } = part
      const isUrlGiven = url !== undefined && (url !== '' || typeof id !== 'string')
      const urls = [...(isUrlGiven ? [url] : []), ...listIfUrl(file_data)]
      return urls.map((url) => ({ kind: 'file', url }))
    }
    case 'input_audio':
      return listIfUrl(part.input_audio.data).map((url) => ({ kind: 'audio', url }))
    case 'opaque':
      return listRawUrls(part.raw)
    case 'input_text':
    case 'output_text':
    case 'refusal':
      return NO_URLS
  }
}

const NO_URLS: readonly MediaUrl[] = []

/**
 * Returns a list with the URL if a field for base64 contains one, because some services accept
 * that; otherwise an empty list.
 */
function listIfUrl(data: string | undefined): readonly string[] {
  return data !== undefined && hasUrlScheme(data) ? [data] : []
}

/**
 * Lists the media URLs in a part of an unknown type, e.g. in
 * `{ type: 'video_url', video_url: { url } }` and in `{ file: { file_url } }`.
 */
function listRawUrls(raw: JsonObject): readonly MediaUrl[] {
  return URL_FIELDS.flatMap(([field, kind]) => {
    const value = raw[field]
    const texts = isObject(value) ? [value['url'], value[`${kind}_url`]] : [value]
    return texts.flatMap((url) =>
      typeof url === 'string' && hasUrlScheme(url) ? [{ kind, url }] : [],
    )
  })
}

const URL_FIELDS: readonly (readonly [field: string, kind: MediaKind])[] = [
  ['video_url', 'video'],
  ['audio_url', 'audio'],
  ['image_url', 'image'],
  ['file_url', 'file'],
  ['video', 'video'],
  ['audio', 'audio'],
  ['image', 'image'],
  ['file', 'file'],
]

function createBlockedChange(kind: MediaKind): PartChange {
  const why = LOAD_FAULT_REASONS['media-blocked']
  const detail = `The ${kind} is not passed on: ${why}. A notice stands in its place.`
  return { part: createHiddenMediaNotice(kind, why), why: 'media-blocked', detail }
}
