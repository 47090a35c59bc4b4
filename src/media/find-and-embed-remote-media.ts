/** Finds content parts that refer to media by URL, and embeds loaded media into them. */
import type { OpaquePart, Part } from '../core/item.ts'
import { isObject } from '../core/json/json.ts'
import { buildDataUrl } from '../core/media/data-url.ts'

export interface RemoteMedia {
  readonly kind: RemoteMediaKind
  readonly url: string
}

export type RemoteMediaKind = 'image' | 'file' | 'video'

/**
 * Returns the kind and the URL of the part's media, or `null` if the media is embedded or missing.
 */
export function findRemoteMedia(part: Part): RemoteMedia | null {
  switch (part.type) {
    case 'input_image':
      return createRemoteMedia('image', part.image_url)
    case 'input_file':
      return part.file_data === undefined ? createRemoteMedia('file', part.file_url) : null
    case 'opaque':
      return createRemoteMedia('video', readVideoUrl(part))
    case 'input_text':
    case 'output_text':
    case 'refusal':
    case 'input_audio':
      return null
  }
}

/** Returns the URL of a video part, or `null` for any other part. */
export function readVideoUrl({ raw }: OpaquePart): string | null {
  const { type, video_url: video } = raw
  if (type !== 'video_url' && type !== 'input_video') return null
  const url = isObject(video) ? video['url'] : video
  return typeof url === 'string' ? url : null
}

function createRemoteMedia(kind: RemoteMediaKind, url: unknown): RemoteMedia | null {
  return typeof url === 'string' && /^https?:\/\//i.test(url) ? { kind, url } : null
}

export interface InlineMedia {
  readonly type: string
  readonly base64: string
}

export function embedMedia(part: Part, { type, base64 }: InlineMedia): Part {
  const url = buildDataUrl(type, base64)
  switch (part.type) {
    case 'input_image':
      return { ...part, image_url: url }
    case 'input_file': {
      const { file_url = '', ...rest } = part
      const filename = part.filename ?? readFileName(file_url)
      return { ...rest, ...(filename === null ? {} : { filename }), file_data: url }
    }
    case 'opaque': {
      const { video_url: video } = part.raw
      const newVideo = isObject(video) ? { ...video, url } : url
      return { ...part, raw: { ...part.raw, video_url: newVideo } }
    }
    case 'input_text':
    case 'output_text':
    case 'refusal':
    case 'input_audio':
      return part
  }
}

function readFileName(url: string): string | null {
  const path = URL.parse(url)?.pathname ?? ''
  const name = path.slice(path.lastIndexOf('/') + 1)
  return name === '' ? null : name
}
