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
  | { readonly kind: 'refused'; readonly why: NoteCode; readonly label: string }

/** Returns `null` for a part that is no media. */
export function classifyMedia(part: Part, anyUrl: boolean): ClassifiedMedia | null {
  if (isText(part)) return null
  switch (part.type) {
    case 'input_image':
      return classifyImage(part, anyUrl)
    case 'input_file':
      return classifyFile(part, anyUrl)
    case 'input_audio': {
      const { data, format } = part.input_audio
      return classifyInlineMedia(`audio/${format}`, data, 'audio')
    }
    case 'opaque':
      return classifyVideo(part.raw, anyUrl)
  }
}

/** Classifies base64 data from an item of another wire. */
export function classifyInlineMedia(
  mimeType: string,
  data: string,
  label: string,
): ClassifiedMedia {
  const readable = toReadableMediaType(mimeType)
  if (readable === null) return { kind: 'refused', why: 'media-unsupported', label }
  return { kind: 'inline', blob: { mimeType: readable, data } }
}

function classifyImage({ image_url, file_id }: ImagePart, anyUrl: boolean): ClassifiedMedia {
  if (typeof image_url === 'string') return classifyUrl(image_url, 'image', null, anyUrl)
  return classifyUpload(file_id, 'image')
}

function classifyFile(part: FilePart, anyUrl: boolean): ClassifiedMedia {
  const { file_data, file_url, file_id, filename } = part
  const label = filename === undefined ? 'file' : `file "${filename}"`
  const typeHint = filename === undefined ? null : guessMediaType(filename)
  if (file_data !== undefined) {
    if (file_data.startsWith('data:')) return classifyUrl(file_data, label, typeHint, anyUrl)
    return classifyInlineMedia(typeHint ?? 'application/pdf', file_data, label)
  }
  if (file_url !== undefined) return classifyUrl(file_url, label, typeHint, anyUrl)
  return classifyUpload(file_id, label)
}

/** Classifies video in the format that some Chat Completions clients send. */
function classifyVideo(raw: JsonObject, anyUrl: boolean): ClassifiedMedia | null {
  if (raw['type'] !== 'video_url' && raw['type'] !== 'input_video') return null
  const video: Json | undefined = raw['video_url']
  const url = isObject(video) ? video['url'] : video
  return typeof url === 'string'
    ? classifyUrl(url, 'video', null, anyUrl)
    : { kind: 'refused', why: 'media-unsupported', label: 'video' }
}

function classifyUrl(
  url: string,
  label: string,
  typeHint: string | null,
  anyUrl: boolean,
): ClassifiedMedia {
  if (!url.startsWith('data:')) return classifyRemote(url, label, typeHint, anyUrl)
  const data = parseDataUrl(url)
  if (data === null) return { kind: 'refused', why: 'media-unsupported', label }
  const { type, base64 } = data
  const isVague = type === '' || type === 'application/octet-stream'
  return classifyInlineMedia(isVague ? (typeHint ?? type) : type, base64, label)
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
  anyUrl: boolean,
): ClassifiedMedia {
  const host = url.startsWith('gs://') ? null : (URL.parse(url)?.hostname ?? '')
  const isReadable =
    host === null || GOOGLE_HOSTS.has(host) || (anyUrl && /^https?:\/\//.test(url) && host !== '')
  if (!isReadable) return { kind: 'refused', why: 'media-remote', label }
  const isOwn = host !== null && GOOGLE_HOSTS.has(host)
  return {
    kind: 'remote',
    fileUri: url,
    mimeType: isOwn ? typeHint : (typeHint ?? guessMediaType(url)),
  }
}

/**
 * Classifies an uploaded file: an id of Google's Files API, e.g. `files/abc`, becomes a URL; any
 * other id is unknown here.
 */
function classifyUpload(id: string | null | undefined, label: string): ClassifiedMedia {
  if (typeof id !== 'string') return { kind: 'refused', why: 'media-unsupported', label }
  if (!id.startsWith('files/')) return { kind: 'refused', why: 'media-unresolved', label }
  const fileUri = `https://generativelanguage.googleapis.com/v1beta/${id}`
  return { kind: 'remote', fileUri, mimeType: null }
}
