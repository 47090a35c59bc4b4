/**
 * Decides how an image, audio, video or document is sent: as base64 within the request (`inline`),
 * or as a URL that Google loads (`remote`). A medium that can be sent in neither way is `refused`,
 * and a notice replaces it.
 *
 * https://ai.google.dev/gemini-api/docs/file-input-methods
 */
import { parseDataUrl } from '../../../../core/media/data-url.ts'
import { isTextOrRefusal, type FilePart, type ImagePart, type Part } from '../../../../core/item.ts'
import { isObject, type Json, type JsonObject } from '../../../../core/json/json.ts'
import { guessMediaType, toReadableMediaType } from './map-media-types.ts'
import type { NoteCode } from '../../encoding-notes.ts'
import type { InlineBlob } from '../../api-types.ts'

export type ClassifiedMedia =
  | { readonly kind: 'inline'; readonly blob: InlineBlob }
  | { readonly kind: 'remote'; readonly fileUri: string; readonly mimeType: string | null }
  | { readonly kind: 'refused'; readonly why: NoteCode; readonly label: string }

/**
 * Classifies a part; returns `null` if it is no medium. `canReadAnyUrl` is true if the upstream
 * loads URLs of any host instead of only Google's.
 */
export function classifyMedia(part: Part, canReadAnyUrl: boolean): ClassifiedMedia | null {
  if (isTextOrRefusal(part)) return null
  switch (part.type) {
    case 'input_image':
      return classifyImage(part, canReadAnyUrl)
    case 'input_file':
      return classifyFile(part, canReadAnyUrl)
    case 'input_audio': {
      const { data, format } = part.input_audio
      return classifyInlineMedium(`audio/${format}`, data, 'audio')
    }
    case 'opaque':
      return classifyVideo(part.raw, canReadAnyUrl)
  }
}

/** Classifies base64 data: as inline, or as refused if Gemini does not support its media type. */
export function classifyInlineMedium(
  mimeType: string,
  data: string,
  mediaLabel: string,
): ClassifiedMedia {
  const readable = toReadableMediaType(mimeType)
  if (readable === null) return { kind: 'refused', why: 'media-unsupported', label: mediaLabel }
  return { kind: 'inline', blob: { mimeType: readable, data } }
}

function classifyImage({ image_url, file_id }: ImagePart, canReadAnyUrl: boolean): ClassifiedMedia {
  if (typeof image_url === 'string') return classifyUrl(image_url, 'image', null, canReadAnyUrl)
  return classifyUpload(file_id, 'image')
}

function classifyFile(part: FilePart, canReadAnyUrl: boolean): ClassifiedMedia {
  const { file_data, file_url, file_id, filename } = part
  const label = filename === undefined ? 'file' : `file "${filename}"`
  const typeHint = filename === undefined ? null : guessMediaType(filename)
  if (file_data !== undefined) {
    if (file_data.startsWith('data:')) return classifyUrl(file_data, label, typeHint, canReadAnyUrl)
    return classifyInlineMedium(typeHint ?? 'application/pdf', file_data, label)
  }
  if (file_url !== undefined) return classifyUrl(file_url, label, typeHint, canReadAnyUrl)
  return classifyUpload(file_id, label)
}

/** Classifies a video part `{ type: 'video_url', video_url: { url } }`, which some clients send. */
function classifyVideo(raw: JsonObject, canReadAnyUrl: boolean): ClassifiedMedia | null {
  if (raw['type'] !== 'video_url' && raw['type'] !== 'input_video') return null
  const video: Json | undefined = raw['video_url']
  const url = isObject(video) ? video['url'] : video
  return typeof url === 'string'
    ? classifyUrl(url, 'video', null, canReadAnyUrl)
    : { kind: 'refused', why: 'media-unsupported', label: 'video' }
}

function classifyUrl(
  url: string,
  label: string,
  typeHint: string | null,
  canReadAnyUrl: boolean,
): ClassifiedMedia {
  if (!url.startsWith('data:')) return classifyRemote(url, label, typeHint, canReadAnyUrl)
  const data = parseDataUrl(url)
  if (data === null) return { kind: 'refused', why: 'media-unsupported', label }
  const { mimeType, base64 } = data
  const isVague = mimeType === '' || mimeType === 'application/octet-stream'
  return classifyInlineMedium(isVague ? (typeHint ?? mimeType) : mimeType, base64, label)
}

const GOOGLE_HOSTS = new Set([
  'youtube.com',
  'www.youtube.com',
  'm.youtube.com',
  'youtu.be',
  'generativelanguage.googleapis.com',
])

function classifyRemote(
  url: string,
  label: string,
  typeHint: string | null,
  canReadAnyUrl: boolean,
): ClassifiedMedia {
  const host = url.startsWith('gs://') ? null : (URL.parse(url)?.hostname ?? '')
  const isReadable =
    host === null ||
    GOOGLE_HOSTS.has(host) ||
    (canReadAnyUrl && /^https?:\/\//.test(url) && host !== '')
  if (!isReadable) return { kind: 'refused', why: 'media-remote', label }
  const isOwn = host !== null && GOOGLE_HOSTS.has(host)
  return {
    kind: 'remote',
    fileUri: url,
    mimeType: isOwn ? typeHint : (typeHint ?? guessMediaType(url)),
  }
}

/**
 * Classifies an uploaded file. The id of a file that Google stores, e.g. `files/abc`, becomes a
 * URL. Google does not know the ids of other services.
 */
function classifyUpload(id: string | null | undefined, label: string): ClassifiedMedia {
  if (typeof id !== 'string') return { kind: 'refused', why: 'media-unsupported', label }
  if (!id.startsWith('files/')) return { kind: 'refused', why: 'media-unresolved', label }
  const fileUri = `https://generativelanguage.googleapis.com/v1beta/${id}`
  return { kind: 'remote', fileUri, mimeType: null }
}
