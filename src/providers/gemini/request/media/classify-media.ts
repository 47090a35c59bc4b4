/**
 * Classifies images, audio, video and documents: as base64 inside the request, or by a URL that
 * Google can read. Media that can go neither way is `refused`, and a notice replaces it.
 *
 * https://ai.google.dev/gemini-api/docs/file-input-methods
 */
import { parseDataUrl } from '../../../../core/media/data-url.ts'
import { isText, type FilePart, type ImagePart, type Part } from '../../../../core/item.ts'
import { isObject, type Json, type JsonObject } from '../../../../core/json/json.ts'
import { guessMediaType, toReadableMediaType } from './map-media-types.ts'
import type { NoteCode } from '../../encoding-notes.ts'
import type { InlineBlob } from '../../api-types.ts'

export type ClassifiedMedia =
  | { readonly kind: 'inline'; readonly blob: InlineBlob }
  | { readonly kind: 'remote'; readonly fileUri: string; readonly mimeType: string | null }
  | { readonly kind: 'refused'; readonly why: NoteCode; readonly description: string }

/** Returns `null` for a part that is no media. */
export function classifyMedia(part: Part, acceptsAnyUrl: boolean): ClassifiedMedia | null {
  if (isText(part)) return null
  switch (part.type) {
    case 'input_image':
      return classifyImage(part, acceptsAnyUrl)
    case 'input_file':
      return classifyFile(part, acceptsAnyUrl)
    case 'input_audio': {
      const { data, format } = part.input_audio
      return classifyInlineMedia(`audio/${format}`, data, 'audio')
    }
    case 'opaque':
      return classifyVideo(part.raw, acceptsAnyUrl)
  }
}

/** Classifies base64 data from an item of another wire. */
export function classifyInlineMedia(
  mimeType: string,
  data: string,
  description: string,
): ClassifiedMedia {
  const readable = toReadableMediaType(mimeType)
  if (readable === null) return { kind: 'refused', why: 'media-unsupported', description }
  return { kind: 'inline', blob: { mimeType: readable, data } }
}

function classifyImage({ image_url, file_id }: ImagePart, acceptsAnyUrl: boolean): ClassifiedMedia {
  if (typeof image_url === 'string') return classifyUrl(image_url, 'image', null, acceptsAnyUrl)
  return classifyUpload(file_id, 'image')
}

function classifyFile(part: FilePart, acceptsAnyUrl: boolean): ClassifiedMedia {
  const { file_data, file_url, file_id, filename } = part
  const description = filename === undefined ? 'file' : `file "${filename}"`
  const guessedType = filename === undefined ? null : guessMediaType(filename)
  if (file_data !== undefined) {
    if (file_data.startsWith('data:'))
      return classifyUrl(file_data, description, guessedType, acceptsAnyUrl)
    return classifyInlineMedia(guessedType ?? 'application/pdf', file_data, description)
  }
  if (file_url !== undefined) return classifyUrl(file_url, description, guessedType, acceptsAnyUrl)
  return classifyUpload(file_id, description)
}

/** Classifies video in the format that some Chat Completions clients send. */
function classifyVideo(raw: JsonObject, acceptsAnyUrl: boolean): ClassifiedMedia | null {
  if (raw['type'] !== 'video_url' && raw['type'] !== 'input_video') return null
  const video: Json | undefined = raw['video_url']
  const url = isObject(video) ? video['url'] : video
  return typeof url === 'string'
    ? classifyUrl(url, 'video', null, acceptsAnyUrl)
    : { kind: 'refused', why: 'media-unsupported', description: 'video' }
}

function classifyUrl(
  url: string,
  description: string,
  guessedType: string | null,
  acceptsAnyUrl: boolean,
): ClassifiedMedia {
  if (!url.startsWith('data:')) return classifyRemote(url, description, guessedType, acceptsAnyUrl)
  const data = parseDataUrl(url)
  if (data === null) return { kind: 'refused', why: 'media-unsupported', description }
  const { type, base64 } = data
  const isVague = type === '' || type === 'application/octet-stream'
  return classifyInlineMedia(isVague ? (guessedType ?? type) : type, base64, description)
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
  description: string,
  guessedType: string | null,
  acceptsAnyUrl: boolean,
): ClassifiedMedia {
  const host = url.startsWith('gs://') ? null : (URL.parse(url)?.hostname ?? '')
  const isReadable =
    host === null ||
    GOOGLE_HOSTS.has(host) ||
    (acceptsAnyUrl && /^https?:\/\//.test(url) && host !== '')
  if (!isReadable) return { kind: 'refused', why: 'media-remote', description }
  const isOwn = host !== null && GOOGLE_HOSTS.has(host)
  return {
    kind: 'remote',
    fileUri: url,
    mimeType: isOwn ? guessedType : (guessedType ?? guessMediaType(url)),
  }
}

/**
 * Classifies an uploaded file: an id of Google's Files API, e.g. `files/abc`, becomes a URL; any
 * other id is unknown here.
 */
function classifyUpload(id: string | null | undefined, description: string): ClassifiedMedia {
  if (typeof id !== 'string') return { kind: 'refused', why: 'media-unsupported', description }
  if (!id.startsWith('files/')) return { kind: 'refused', why: 'media-unresolved', description }
  const fileUri = `https://generativelanguage.googleapis.com/v1beta/${id}`
  return { kind: 'remote', fileUri, mimeType: null }
}
