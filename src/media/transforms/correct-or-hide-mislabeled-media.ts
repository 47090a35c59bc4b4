/**
 * Corrects the media type of embedded media from its first bytes, and replaces data that is no
 * media by a notice. Some upstreams reject the complete request for such data; others pass it to
 * the model. Only the first 48 bytes are read, so large media costs no time.
 */
import type { AudioPart, FilePart, ImagePart, OpaquePart, Part } from '../../core/item.ts'
import { buildDataUrl, isDataUrl, parseDataUrl, type DataUrl } from '../../core/media/data-url.ts'
import { ITEM_TRAITS } from '../../context/detect-item-traits.ts'
import type { Transform } from '../../context/transform-interface.ts'
import {
  decodeFirstBytes,
  isEmptyOrStartsAsInvalidBase64,
} from '../decode-and-check-base64-start.ts'
import { mapParts, type PartChange } from './map-parts.ts'
import { createHiddenMediaNotice } from '../create-hidden-media-notice.ts'
import { hasUrlScheme } from '../loading/check-url-safety.ts'
import { readVideoUrl } from '../find-and-embed-remote-media.ts'
import {
  isSniffableType,
  looksLikeMarkup,
  looksLikeText,
  sniffMediaType,
} from '../sniff-media-type.ts'

export function correctOrHideMislabeledMedia(): Transform {
  return {
    name: 'media',
    requiredTraits: ITEM_TRAITS.media,
    prefixChanges: 'never',
    run: (items) => mapParts(items, checkPart),
  }
}

function checkPart(part: Part): PartChange | null {
  switch (part.type) {
    case 'input_image':
      return checkImage(part)
    case 'input_file':
      return checkFile(part)
    case 'input_audio':
      return checkAudio(part)
    case 'opaque':
      return checkVideo(part)
    case 'input_text':
    case 'output_text':
    case 'refusal':
      return null
  }
}

/**
 * True for an embedded image whose data cannot be decoded as an image. A URL of an image is not
 * checked.
 */
export function isBrokenImage(part: Part): boolean {
  return part.type === 'input_image' && checkImage(part)?.why === HIDDEN
}

function checkImage(part: ImagePart): PartChange | null {
  const { image_url: url } = part
  if (typeof url !== 'string') return null
  const data = parseDataUrl(url) ?? parseBareImage(url)
  if (data === null) return isDataUrl(url) ? createHiddenChange('image') : null
  if (isEmptyOrStartsAsInvalidBase64(data.base64)) return createHiddenChange('image')
  const bytes = decodeFirstBytes(data.base64)
  const type = sniffMediaType(bytes)
  if (type === null)
    return looksLikeText(bytes) || isSniffableType(data.mimeType)
      ? createHiddenChange('image')
      : null
  if (!type.startsWith('image/')) return createHiddenChange('image')
  const isCorrect = isSameType(type, data.mimeType) && url.startsWith('data:')
  return isCorrect
    ? null
    : createCorrectedChange({ ...part, image_url: buildDataUrl(type, data.base64) })
}

/**
 * Returns the type and the base64 of an image if the URL field contains bare base64, as some
 * clients send it.
 */
function parseBareImage(url: string): DataUrl | null {
  if (hasUrlScheme(url)) return null
  return sniffMediaType(decodeFirstBytes(url))?.startsWith('image/') === true
    ? { mimeType: '', base64: url }
    : null
}

/** Checks only files whose declared type has recognizable first bytes: images and PDF. */
function checkFile(part: FilePart): PartChange | null {
  // Empty data is valid if the client sends a file id instead.
  if (part.file_data?.trim() === '')
    return typeof part.file_id === 'string' ? null : createHiddenChange('file')
  const data = part.file_data === undefined ? null : parseDataUrl(part.file_data)
  if (data === null || !/^(image\/|application\/pdf)/.test(data.mimeType)) return null
  if (isEmptyOrStartsAsInvalidBase64(data.base64)) return createHiddenChange('file')
  const bytes = decodeFirstBytes(data.base64)
  const type = sniffMediaType(bytes)
  if (type === null) {
    const isSvg = data.mimeType === 'image/svg+xml'
    return looksLikeMarkup(bytes) && !isSvg ? createHiddenChange('file') : null
  }
  return isSameType(type, data.mimeType)
    ? null
    : createCorrectedChange({ ...part, file_data: buildDataUrl(type, data.base64) })
}

/**
 * Checks an audio part whose `data` is base64 or a data URL. Does not check a URL, which some
 * services accept instead.
 */
function checkAudio(part: AudioPart): PartChange | null {
  const { data, format } = part.input_audio
  const inline = parseDataUrl(data)
  if (inline === null && hasUrlScheme(data)) return null
  const base64 = inline?.base64 ?? data
  if (isEmptyOrStartsAsInvalidBase64(base64)) return createHiddenChange('audio')
  const bytes = decodeFirstBytes(base64)
  const type = sniffMediaType(bytes)
  // Accepts audio of an unknown type, because raw samples have no header.
  if (type === null) return looksLikeText(bytes) ? createHiddenChange('audio') : null
  if (type.startsWith('image/') || type === 'application/pdf') return createHiddenChange('audio')
  const validFormats = AUDIO_FORMATS.get(type)
  if (validFormats === undefined || validFormats.includes(format.toLowerCase())) return null
  return createCorrectedChange({
    ...part,
    input_audio: { ...part.input_audio, format: validFormats[0] ?? format },
  })
}

function checkVideo(part: OpaquePart): PartChange | null {
  const data = parseDataUrl(readVideoUrl(part) ?? '')
  if (data === null) return null
  const isInvalid =
    isEmptyOrStartsAsInvalidBase64(data.base64) || looksLikeText(decodeFirstBytes(data.base64))
  return isInvalid ? createHiddenChange('video') : null
}

const AUDIO_FORMATS: ReadonlyMap<string, readonly string[]> = new Map([
  ['audio/wav', ['wav', 'x-wav', 'wave']],
  ['audio/mpeg', ['mp3', 'mpeg']],
  ['audio/ogg', ['ogg', 'opus']],
  ['audio/flac', ['flac']],
])

const TYPE_ALIASES: ReadonlyMap<string, string> = new Map([
  ['image/jpg', 'image/jpeg'],
  ['image/heic', 'image/heif'],
])

function isSameType(first: string, second: string): boolean {
  return (TYPE_ALIASES.get(first) ?? first) === (TYPE_ALIASES.get(second) ?? second)
}

function createCorrectedChange(part: Part): PartChange {
  const detail = 'The medium is of another type than it was said to be; its bytes tell.'
  return { part, why: 'media-type-corrected', detail }
}

function createHiddenChange(what: string): PartChange {
  const part = createHiddenMediaNotice(what, `it is no ${what} of a kind that can be read`)
  const detail = 'The medium is not what it was said to be; a notice stands in its place.'
  return { part, why: HIDDEN, detail }
}

const HIDDEN = 'media-mislabelled'
