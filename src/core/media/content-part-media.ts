/** Reads the image, recording, video or file of a content part, and how many bytes it adds to a request. */
import type { FilePart, Part } from '../item.ts'
import { isObject, type JsonObject } from '../json/json.ts'

export const MEDIA_KINDS = ['image', 'audio', 'video', 'file'] as const

export type MediaKind = (typeof MEDIA_KINDS)[number]

export interface PartMedia {
  readonly kind: MediaKind
  /** Text that is the same for the same medium: its complete data, or its URL, e.g. `https://a.example/1.png`. */
  readonly identity: string
  /** Number of bytes that the part adds to a request; 0 if it has only a URL or a file id. */
  readonly bytes: number
}

/** Returns the medium of a content part; null for text and unknown parts. */
export function readPartMedia(part: Part): PartMedia | null {
  switch (part.type) {
    case 'input_text':
    case 'output_text':
    case 'refusal':
      return null
    case 'input_image':
      return createMedia('image', part.image_url ?? part.file_id ?? '')
    case 'input_audio':
      return createInlineMedia('audio', part.input_audio.data)
    case 'input_file':
      return readFile(part)
    case 'opaque':
      return readOpaquePart(part.raw)
  }
}

export function createImageMedia(url: string): PartMedia {
  return createMedia('image', url)
}

function createMedia(kind: MediaKind, identity: string): PartMedia {
  return identity.startsWith('data:')
    ? createInlineMedia(kind, identity)
    : { kind, identity, bytes: 0 }
}

function createInlineMedia(kind: MediaKind, base64: string): PartMedia {
  return { kind, identity: base64, bytes: Math.ceil((base64.length * 3) / 4) }
}

function readFile({ file_data, file_url, file_id, filename }: FilePart): PartMedia {
  const identity = file_data ?? file_url ?? file_id ?? filename ?? ''
  const type = /^data:(\w+)\//.exec(identity.slice(0, 20))?.[1]
  const kind = type === 'image' || type === 'audio' || type === 'video' ? type : 'file'
  return file_data === undefined ? createMedia(kind, identity) : createInlineMedia(kind, identity)
}

/** Reads parts such as `{ type: 'video_url', video_url: { url } }`, which several services use. */
function readOpaquePart(raw: JsonObject): PartMedia | null {
  const { type } = raw
  if (typeof type !== 'string') return null
  const kind = OPAQUE_KINDS.get(type)
  if (kind === undefined) return null
  const value = raw[type] ?? raw['data'] ?? raw['url']
  const address = isObject(value) ? (value['url'] ?? value['data']) : value
  return createMedia(kind, typeof address === 'string' ? address : JSON.stringify(raw))
}

const OPAQUE_KINDS: ReadonlyMap<string, MediaKind> = new Map<string, MediaKind>([
  ['video_url', 'video'],
  ['input_video', 'video'],
  ['video', 'video'],
  ['audio_url', 'audio'],
  ['image', 'image'],
  ['computer_screenshot', 'image'],
])
