/**
 * Media are what their first bytes say. A type that is wrong is put right, and what is no medium at
 * all becomes a notice: an upstream that looks would refuse the whole request for it, and one that does
 * not would tell its model nothing. Only the beginning is looked at, however large a medium is.
 */
import type { AudioPart, FilePart, ImagePart, OpaquePart, Part } from '../../core/item.ts'
import { buildDataUrl, isDataUrl, parseDataUrl } from '../../core/media/data-url.ts'
import { ITEM_TRAITS } from '../../context/scan-items.ts'
import type { Transform } from '../../context/transform-interface.ts'
import { decodeFirstBytes, isEmptyOrInvalidBase64 } from '../decode-and-check-base64-start.ts'
import { mapParts, type PartChange } from './map-parts.ts'
import { createHiddenMediaNotice } from '../hidden-media-notice.ts'
import { hasUrlScheme } from '../loading/check-url-safety.ts'
import { readVideoUrl } from '../find-and-embed-remote-media.ts'
import {
  isSniffableType,
  looksLikeMarkup,
  looksLikeText,
  sniffMediaType,
} from '../sniff-media-type.ts'

export function correctMediaTypes(): Transform {
  return {
    name: 'media',
    needs: ITEM_TRAITS.media,
    prefixStability: 'none',
    run: (items) => mapParts(items, changed),
  }
}

function changed(part: Part): PartChange | null {
  switch (part.type) {
    case 'input_image':
      return imageOf(part)
    case 'input_file':
      return fileOf(part)
    case 'input_audio':
      return audioOf(part)
    case 'opaque':
      return videoOf(part)
    case 'input_text':
    case 'output_text':
    case 'refusal':
      return null
  }
}

function imageOf(part: ImagePart): PartChange | null {
  const { image_url: url } = part
  if (typeof url !== 'string') return null
  const data = parseDataUrl(url) ?? bareImage(url)
  if (data === null) return isDataUrl(url) ? notShown('image') : null
  if (isEmptyOrInvalidBase64(data.base64)) return notShown('image')
  const bytes = decodeFirstBytes(data.base64)
  const type = sniffMediaType(bytes)
  if (type === null)
    return looksLikeText(bytes) || isSniffableType(data.type) ? notShown('image') : null
  if (!type.startsWith('image/')) return notShown('image')
  const isRight = isSame(type, data.type) && url.startsWith('data:')
  return isRight ? null : corrected({ ...part, image_url: buildDataUrl(type, data.base64) })
}

/** Where an address belongs, some clients put the image itself. */
function bareImage(url: string): { readonly type: string; readonly base64: string } | null {
  if (hasUrlScheme(url)) return null
  return sniffMediaType(decodeFirstBytes(url))?.startsWith('image/') === true
    ? { type: '', base64: url }
    : null
}

/** Only of a file that says it is one of the kinds that can be told. */
function fileOf(part: FilePart): PartChange | null {
  // Who names a file by its id may leave the rest empty.
  if (part.file_data?.trim() === '')
    return typeof part.file_id === 'string' ? null : notShown('file')
  const data = part.file_data === undefined ? null : parseDataUrl(part.file_data)
  if (data === null || !/^(image\/|application\/pdf)/.test(data.type)) return null
  if (isEmptyOrInvalidBase64(data.base64)) return notShown('file')
  const bytes = decodeFirstBytes(data.base64)
  const type = sniffMediaType(bytes)
  if (type === null) {
    const isSvg = data.type === 'image/svg+xml'
    return looksLikeMarkup(bytes) && !isSvg ? notShown('file') : null
  }
  return isSame(type, data.type)
    ? null
    : corrected({ ...part, file_data: buildDataUrl(type, data.base64) })
}

/** Some services take it as a URL. */
function audioOf(part: AudioPart): PartChange | null {
  const { data, format } = part.input_audio
  const inline = parseDataUrl(data)
  if (inline === null && hasUrlScheme(data)) return null
  const base64 = inline?.base64 ?? data
  if (isEmptyOrInvalidBase64(base64)) return notShown('audio')
  const bytes = decodeFirstBytes(base64)
  const type = sniffMediaType(bytes)
  // Samples without a head begin with anything.
  if (type === null) return looksLikeText(bytes) ? notShown('audio') : null
  if (type.startsWith('image/') || type === 'application/pdf') return notShown('audio')
  const right = AUDIO.get(type)
  if (right === undefined || right.includes(format.toLowerCase())) return null
  return corrected({ ...part, input_audio: { ...part.input_audio, format: right[0] ?? format } })
}

function videoOf(part: OpaquePart): PartChange | null {
  const data = parseDataUrl(readVideoUrl(part) ?? '')
  if (data === null) return null
  const isNone = isEmptyOrInvalidBase64(data.base64) || looksLikeText(decodeFirstBytes(data.base64))
  return isNone ? notShown('video') : null
}

const AUDIO: ReadonlyMap<string, readonly string[]> = new Map([
  ['audio/wav', ['wav', 'x-wav', 'wave']],
  ['audio/mpeg', ['mp3', 'mpeg']],
  ['audio/ogg', ['ogg', 'opus']],
  ['audio/flac', ['flac']],
])

const ALIASES: ReadonlyMap<string, string> = new Map([
  ['image/jpg', 'image/jpeg'],
  ['image/heic', 'image/heif'],
])

function isSame(one: string, other: string): boolean {
  return (ALIASES.get(one) ?? one) === (ALIASES.get(other) ?? other)
}

function corrected(part: Part): PartChange {
  const detail = 'The medium is of another type than it was said to be; its bytes tell.'
  return { part, why: 'media-type-corrected', detail }
}

function notShown(what: string): PartChange {
  const part = createHiddenMediaNotice(what, `it is no ${what} of a kind that can be read`)
  const detail = 'The medium is not what it was said to be; a notice stands in its place.'
  return { part, why: 'media-mislabelled', detail }
}
