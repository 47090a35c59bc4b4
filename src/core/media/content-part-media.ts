/** What a part shows beside words, whoever is to see it: which kind of medium, which one, how large. */
import type { FilePart, Part } from '../item.ts'
import { isObject, type Json, type JsonObject } from '../json/json.ts'

export const MEDIA_KINDS = ['image', 'audio', 'video', 'file'] as const

export type MediaKind = (typeof MEDIA_KINDS)[number]

export interface PartMedia {
  readonly kind: MediaKind
  /** The same for the same medium and for no other: all of its data, or its address. */
  readonly identity: string
  /** What it adds to a request; nothing if it stands there by its address. */
  readonly bytes: number
}

/** `null` for words, and for what nobody understands. */
export function readPartMedia(part: Part): PartMedia | null {
  switch (part.type) {
    case 'input_text':
    case 'output_text':
    case 'refusal':
      return null
    case 'input_image':
      return medium('image', part.image_url ?? part.file_id ?? '')
    case 'input_audio':
      return held('audio', part.input_audio.data)
    case 'input_file':
      return mediumOfFile(part)
    case 'opaque':
      return mediumOfOpaque(part.raw)
  }
}

export function createImageMedia(url: string): PartMedia {
  return medium('image', url)
}

function medium(kind: MediaKind, identity: string): PartMedia {
  return identity.startsWith('data:') ? held(kind, identity) : { kind, identity, bytes: 0 }
}

function held(kind: MediaKind, base64: string): PartMedia {
  return { kind, identity: base64, bytes: Math.ceil((base64.length * 3) / 4) }
}

function mediumOfFile({ file_data, file_url, file_id, filename }: FilePart): PartMedia {
  const identity = file_data ?? file_url ?? file_id ?? filename ?? ''
  const kind = kindOfType(/^data:(\w+)\//.exec(identity.slice(0, 20))?.[1])
  return file_data === undefined ? medium(kind, identity) : held(kind, identity)
}

function kindOfType(type: string | undefined): MediaKind {
  return type === 'image' || type === 'audio' || type === 'video' ? type : 'file'
}

/** As several services write it: `{ type: 'video_url', video_url: { url } }`. */
function mediumOfOpaque(raw: JsonObject): PartMedia | null {
  const { type } = raw
  if (typeof type !== 'string') return null
  const kind = OPAQUE_KINDS.get(type)
  if (kind === undefined) return null
  const said = raw[type] ?? raw['data'] ?? raw['url']
  return medium(kind, urlIn(isObject(said) ? (said['url'] ?? said['data']) : said, raw))
}

function urlIn(said: Json | undefined, raw: JsonObject): string {
  return typeof said === 'string' ? said : JSON.stringify(raw)
}

const OPAQUE_KINDS: ReadonlyMap<string, MediaKind> = new Map<string, MediaKind>([
  ['video_url', 'video'],
  ['input_video', 'video'],
  ['video', 'video'],
  ['audio_url', 'audio'],
  ['image', 'image'],
  ['computer_screenshot', 'image'],
])
