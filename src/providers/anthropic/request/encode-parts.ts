/**
 * The parts of a message, or of a tool output, as content blocks. What the wire cannot carry becomes
 * a notice, so that the model knows that there was something.
 */
import { parseDataUrl } from '../../../core/media/data-url.ts'
import { sanitizeNoticeName, formatNotice } from '../../../core/text/gateway-notice.ts'
import type {
  AudioPart,
  FilePart,
  ImagePart,
  OpaquePart,
  Part,
  RefusalPart,
  TextPart,
} from '../../../core/item.ts'
import type { NoteCollector } from '../encoding-notes.ts'
import type { ContentBlock } from '../api-types.ts'

export function encodeParts(
  parts: string | readonly Part[],
  at: number,
  notebook: NoteCollector,
): readonly ContentBlock[] {
  if (typeof parts === 'string') return [createTextBlock(parts)]
  return parts.map((part) => encodePart(part, at, notebook))
}

export function createTextBlock(text: string): ContentBlock {
  return { type: 'text', text }
}

export function encodePart(part: Part, at: number, notebook: NoteCollector): ContentBlock {
  switch (part.type) {
    case 'input_text':
    case 'output_text':
      return textOf(part)
    case 'refusal':
      return refusal(part)
    case 'input_image':
      return image(part, at, notebook)
    case 'input_file':
      return file(part, at, notebook)
    case 'input_audio':
      return audio(part, at, notebook)
    case 'opaque':
      return unknown(part, at, notebook)
  }
}

function textOf({ text }: TextPart): ContentBlock {
  return createTextBlock(text)
}

function refusal({ refusal }: RefusalPart): ContentBlock {
  return createTextBlock(refusal)
}

const IMAGE_TYPES: ReadonlySet<string> = new Set([
  'image/jpeg',
  'image/png',
  'image/gif',
  'image/webp',
])

function image(
  { image_url, file_id, detail }: ImagePart,
  at: number,
  notebook: NoteCollector,
): ContentBlock {
  if (detail !== undefined && detail !== 'auto') {
    notebook.write('image-detail-ignored', { at })
  }
  if (typeof image_url !== 'string') {
    return notice('image', file_id ? 'file-of-another-provider' : 'media-unsupported', at, notebook)
  }
  const data = parseDataUrl(image_url)
  if (data === null) {
    return isWebUrl(image_url)
      ? { type: 'image', source: { type: 'url', url: image_url } }
      : notice('image', 'media-unsupported', at, notebook)
  }
  const mediaType = data.type === 'image/jpg' ? 'image/jpeg' : data.type
  return IMAGE_TYPES.has(mediaType)
    ? { type: 'image', source: { type: 'base64', media_type: mediaType, data: data.base64 } }
    : notice(`${mediaType || 'image'} file`, 'media-unsupported', at, notebook)
}

function file(part: FilePart, at: number, notebook: NoteCollector): ContentBlock {
  const { file_data, file_id, file_url, filename } = part
  const title = filename === undefined ? {} : { title: filename }
  if (file_url !== undefined && file_data === undefined) {
    return { type: 'document', source: { type: 'url', url: file_url }, ...title }
  }
  if (file_data === undefined) {
    return notice(
      named(filename),
      file_id ? 'file-of-another-provider' : 'media-unsupported',
      at,
      notebook,
    )
  }
  const { type: mediaType, base64 } = parseDataUrl(file_data) ?? {
    type: byName(filename),
    base64: file_data,
  }
  if (mediaType === 'application/pdf') {
    return {
      type: 'document',
      source: { type: 'base64', media_type: mediaType, data: base64 },
      ...title,
    }
  }
  const data = isPlainText(mediaType) ? decoded(base64) : null
  if (data === null) return notice(named(filename), 'media-unsupported', at, notebook)
  return { type: 'document', source: { type: 'text', media_type: 'text/plain', data }, ...title }
}

function audio(_part: AudioPart, at: number, notebook: NoteCollector): ContentBlock {
  return notice('audio', 'media-unsupported', at, notebook)
}

function unknown({ raw }: OpaquePart, at: number, notebook: NoteCollector): ContentBlock {
  const kind = typeof raw['type'] === 'string' ? raw['type'] : 'content'
  return notice(kind, 'media-unsupported', at, notebook)
}

function notice(
  what: string,
  why: 'media-unsupported' | 'file-of-another-provider',
  at: number,
  notebook: NoteCollector,
): ContentBlock {
  notebook.write(why, { at, detail: what })
  const called = sanitizeNoticeName(what)
  return createTextBlock(
    formatNotice(`A medium (${called}) that was here is not shown: this model cannot read it.`),
  )
}

function named(filename: string | undefined): string {
  return filename === undefined ? 'file' : `file ${filename}`
}

function isWebUrl(url: string): boolean {
  return url.startsWith('https://') || url.startsWith('http://')
}

function byName(filename = ''): string {
  const ending = filename.slice(filename.lastIndexOf('.') + 1).toLowerCase()
  if (ending === 'txt' || ending === 'md' || ending === 'csv' || ending === 'json')
    return 'text/plain'
  // Clients that send bare base64 mean PDF.
  return ending === 'pdf' || ending === '' ? 'application/pdf' : ''
}

function isPlainText(mediaType: string): boolean {
  return (
    mediaType.startsWith('text/') ||
    mediaType === 'application/json' ||
    mediaType === 'application/xml'
  )
}

/** `null` for what is not base64 or not UTF-8. */
function decoded(base64: string): string | null {
  try {
    const text = atob(base64)
    const bytes = new Uint8Array(text.length)
    for (let at = 0; at < text.length; at++) bytes[at] = text.charCodeAt(at)
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return null
  }
}
