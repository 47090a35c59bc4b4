/**
 * Encodes the parts of a message or tool output as content blocks. A part that the API does not
 * support is replaced by a notice, so that the model knows that something is missing.
 */
import { parseDataUrl } from '../../../core/media/data-url.ts'
import { sanitizeNoticeName, formatNotice } from '../../../core/text/gateway-notice.ts'
import type { FilePart, ImagePart, Part } from '../../../core/item.ts'
import type { AnthropicNotes } from '../encoding-notes.ts'
import type { ContentBlock } from '../api-types.ts'

export function encodeParts(
  parts: string | readonly Part[],
  itemIndex: number,
  notes: AnthropicNotes,
): readonly ContentBlock[] {
  if (typeof parts === 'string') return [createTextBlock(parts)]
  return parts.map((part) => encodePart(part, itemIndex, notes))
}

export function createTextBlock(text: string): ContentBlock {
  return { type: 'text', text }
}

export function encodePart(part: Part, itemIndex: number, notes: AnthropicNotes): ContentBlock {
  switch (part.type) {
    case 'input_text':
    case 'output_text':
      return createTextBlock(part.text)
    case 'refusal':
      return createTextBlock(part.refusal)
    case 'input_image':
      return encodeImage(part, itemIndex, notes)
    case 'input_file':
      return encodeFile(part, itemIndex, notes)
    case 'input_audio':
      return createNotice('audio', 'media-unsupported', itemIndex, notes)
    case 'opaque': {
      const { type } = part.raw
      const label = typeof type === 'string' ? type : 'content'
      return createNotice(label, 'media-unsupported', itemIndex, notes)
    }
  }
}

const IMAGE_TYPES: ReadonlySet<string> = new Set(
  'image/jpeg image/png image/gif image/webp'.split(' '),
)

function encodeImage(
  { image_url, file_id, detail }: ImagePart,
  itemIndex: number,
  notes: AnthropicNotes,
): ContentBlock {
  if (detail !== undefined && detail !== 'auto') notes.write('image-detail-ignored', { itemIndex })
  if (typeof image_url !== 'string') {
    const why = file_id ? 'file-of-another-provider' : 'media-unsupported'
    return createNotice('image', why, itemIndex, notes)
  }
  const data = parseDataUrl(image_url)
  if (data === null) {
    return /^https?:\/\//.test(image_url)
      ? { type: 'image', source: { type: 'url', url: image_url } }
      : createNotice('image', 'media-unsupported', itemIndex, notes)
  }
  const mediaType = data.mimeType === 'image/jpg' ? 'image/jpeg' : data.mimeType
  return IMAGE_TYPES.has(mediaType)
    ? { type: 'image', source: { type: 'base64', media_type: mediaType, data: data.base64 } }
    : createNotice(`${mediaType || 'image'} file`, 'media-unsupported', itemIndex, notes)
}

function encodeFile(part: FilePart, itemIndex: number, notes: AnthropicNotes): ContentBlock {
  const { file_data, file_id, file_url, filename } = part
  const title = filename === undefined ? {} : { title: filename }
  const name = filename === undefined ? 'file' : `file ${filename}`
  if (file_url !== undefined && file_data === undefined) {
    return { type: 'document', source: { type: 'url', url: file_url }, ...title }
  }
  if (file_data === undefined) {
    const why = file_id ? 'file-of-another-provider' : 'media-unsupported'
    return createNotice(name, why, itemIndex, notes)
  }
  const dataUrl = parseDataUrl(file_data)
  const mediaType = dataUrl?.mimeType ?? guessMediaType(filename)
  const base64 = dataUrl?.base64 ?? file_data
  if (mediaType === 'application/pdf') {
    const source = { type: 'base64', media_type: mediaType, data: base64 }
    return { type: 'document', source, ...title }
  }
  const data = isPlainText(mediaType) ? decodeUtf8(base64) : null
  if (data === null) return createNotice(name, 'media-unsupported', itemIndex, notes)
  return { type: 'document', source: { type: 'text', media_type: 'text/plain', data }, ...title }
}

function createNotice(
  description: string,
  why: 'media-unsupported' | 'file-of-another-provider',
  itemIndex: number,
  notes: AnthropicNotes,
): ContentBlock {
  notes.write(why, { itemIndex, detail: description })
  const name = sanitizeNoticeName(description)
  return createTextBlock(
    formatNotice(`A medium (${name}) that was here is not shown: this model cannot read it.`),
  )
}

function guessMediaType(filename = ''): string {
  const extension = /\.([^.]*)$/.exec(filename)?.[1]?.toLowerCase() ?? ''
  if (['txt', 'md', 'csv', 'json'].includes(extension)) return 'text/plain'
  // A file with neither a media type nor an extension counts as a PDF, because clients that send it
  // mean a PDF.
  return extension === 'pdf' || extension === '' ? 'application/pdf' : ''
}

function isPlainText(mediaType: string): boolean {
  return mediaType.startsWith('text/') || /^application\/(?:json|xml)$/.test(mediaType)
}

/** Decodes base64 to text; returns `null` if the data is no valid base64 or UTF-8. */
function decodeUtf8(base64: string): string | null {
  try {
    const bytes = Uint8Array.from(atob(base64), (char) => char.charCodeAt(0))
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return null
  }
}
