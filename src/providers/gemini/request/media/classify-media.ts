/**
 * Images, sounds, films and documents: as base64 inside the request, or by an address that Google
 * can read. What cannot go either way is `refused`, and a notice takes its place.
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
  | { readonly kind: 'refused'; readonly why: NoteCode; readonly what: string }

/** `null` for a part that is no medium at all. */
export function classifyMedia(part: Part, anyUrl: boolean): ClassifiedMedia | null {
  if (isText(part)) return null
  switch (part.type) {
    case 'input_image':
      return imageOf(part, anyUrl)
    case 'input_file':
      return fileOf(part, anyUrl)
    case 'input_audio': {
      const { data, format } = part.input_audio
      return classifyInlineMedia(`audio/${format}`, data, 'audio')
    }
    case 'opaque':
      return videoOf(part.raw, anyUrl)
  }
}

/** Base64 out of another wire's item, as `classifyMedia` gives it. */
export function classifyInlineMedia(mimeType: string, data: string, what: string): ClassifiedMedia {
  const readable = toReadableMediaType(mimeType)
  if (readable === null) return { kind: 'refused', why: 'media-unsupported', what }
  return { kind: 'inline', blob: { mimeType: readable, data } }
}

function imageOf({ image_url, file_id }: ImagePart, anyUrl: boolean): ClassifiedMedia {
  if (typeof image_url === 'string') return located(image_url, 'image', null, anyUrl)
  return uploaded(file_id, 'image')
}

function fileOf(part: FilePart, anyUrl: boolean): ClassifiedMedia {
  const { file_data, file_url, file_id, filename } = part
  const what = filename === undefined ? 'file' : `file "${filename}"`
  const named = filename === undefined ? null : guessMediaType(filename)
  if (file_data !== undefined) {
    if (file_data.startsWith('data:')) return located(file_data, what, named, anyUrl)
    return classifyInlineMedia(named ?? 'application/pdf', file_data, what)
  }
  if (file_url !== undefined) return located(file_url, what, named, anyUrl)
  return uploaded(file_id, what)
}

/** Chat clients of other vendors send films this way. */
function videoOf(raw: JsonObject, anyUrl: boolean): ClassifiedMedia | null {
  if (raw['type'] !== 'video_url' && raw['type'] !== 'input_video') return null
  const video: Json | undefined = raw['video_url']
  const url = isObject(video) ? video['url'] : video
  return typeof url === 'string'
    ? located(url, 'video', null, anyUrl)
    : { kind: 'refused', why: 'media-unsupported', what: 'video' }
}

function located(
  url: string,
  what: string,
  named: string | null,
  anyUrl: boolean,
): ClassifiedMedia {
  if (!url.startsWith('data:')) return remote(url, what, named, anyUrl)
  const data = parseDataUrl(url)
  if (data === null) return { kind: 'refused', why: 'media-unsupported', what }
  const { type, base64 } = data
  const isVague = type === '' || type === 'application/octet-stream'
  return classifyInlineMedia(isVague ? (named ?? type) : type, base64, what)
}

const HOSTS = new Set([
  'youtube.com',
  'www.youtube.com',
  'm.youtube.com',
  'youtu.be',
  'generativelanguage.googleapis.com',
])

function remote(url: string, what: string, named: string | null, anyUrl: boolean): ClassifiedMedia {
  const host = url.startsWith('gs://') ? null : (URL.parse(url)?.hostname ?? '')
  const isReadable =
    host === null || HOSTS.has(host) || (anyUrl && /^https?:\/\//.test(url) && host !== '')
  if (!isReadable) return { kind: 'refused', why: 'media-remote', what }
  const isOwn = host !== null && HOSTS.has(host)
  return { kind: 'remote', fileUri: url, mimeType: isOwn ? named : (named ?? guessMediaType(url)) }
}

/** An id of Google's Files API is as good as an address; anybody else's is nothing. */
function uploaded(id: string | null | undefined, what: string): ClassifiedMedia {
  if (typeof id !== 'string') return { kind: 'refused', why: 'media-unsupported', what }
  if (!id.startsWith('files/')) return { kind: 'refused', why: 'media-unresolved', what }
  const fileUri = `https://generativelanguage.googleapis.com/v1beta/${id}`
  return { kind: 'remote', fileUri, mimeType: null }
}
