/**
 * Encodes the parts of a message or tool output. Text parts alone become one string, because many
 * services accept nothing else.
 */
import { sanitizeNoticeName, formatNotice } from '../../../core/text/gateway-notice.ts'
import { isTextOrRefusal, textOfPart, type Part } from '../../../core/item.ts'
import { isObject, textOrEmpty, type Json, type JsonObject } from '../../../core/json/json.ts'
import type { ChatNotes } from '../encoding-notes.ts'

export interface PartEncodingContext {
  readonly itemIndex: number
  readonly notes: ChatNotes
  /**
   * For each part, the fields that only Chat Completions has. If they are set, text parts are not
   * joined, because joined text could not have them.
   */
  readonly partFields?: readonly (JsonObject | null)[] | undefined
}

export function encodeContent(parts: readonly Part[], context: PartEncodingContext): Json {
  // `partFields` belong to the client's parts by index, so they are ignored if the number of parts
  // has changed.
  const partFields = context.partFields?.length === parts.length ? context.partFields : undefined
  if (partFields === undefined && parts.every(isTextOrRefusal)) return joinText(parts, context)
  return parts.map((part, index) => ({ ...encodePart(part, context), ...partFields?.[index] }))
}

/** True for images, files, audio and unknown parts. */
export function isMediaPart(part: Part): boolean {
  return !isTextOrRefusal(part)
}

/**
 * Joins the text parts of an answer without a separator, because they are one text. Joins text
 * parts of other messages with line breaks, and writes a note.
 */
function joinText(parts: readonly Part[], { itemIndex, notes }: PartEncodingContext): string {
  const texts = parts.map(textOfPart)
  if (texts.length < 2 || parts[0]?.type !== 'input_text') return texts.join('')
  notes.write('text-joined', { itemIndex })
  return texts.join('\n')
}

export function encodePart(part: Part, { itemIndex, notes }: PartEncodingContext): JsonObject {
  switch (part.type) {
    case 'input_text':
    case 'output_text':
      return { type: 'text', text: part.text }
    case 'refusal':
      return { type: 'text', text: part.refusal }
    case 'input_image': {
      const { image_url: url, detail } = part
      if (typeof url !== 'string' || url === '') {
        notes.write('image-without-url', { itemIndex })
        return encodeNotice('An image was here, which cannot be shown.')
      }
      const isKnownDetail = detail === undefined || KNOWN_DETAIL_LEVELS.has(detail)
      if (!isKnownDetail) notes.write('image-detail-changed', { itemIndex, detail })
      const image = detail === undefined || !isKnownDetail ? { url } : { url, detail }
      return { type: 'image_url', image_url: image }
    }
    case 'input_file': {
      const { file_data, file_id, filename } = part
      if (file_data === undefined && typeof file_id !== 'string') {
        notes.write('file-by-url', { itemIndex })
        const name = sanitizeNoticeName(filename ?? part.file_url ?? '?')
        return encodeNotice(`A file (${name}) was here, which cannot be shown.`)
      }
      return {
        type: 'file',
        file: {
          ...(file_data === undefined ? {} : { file_data }),
          ...(typeof file_id === 'string' ? { file_id } : {}),
          ...(filename === undefined ? {} : { filename }),
        },
      }
    }
    case 'input_audio':
      return { type: 'input_audio', input_audio: { ...part.input_audio } }
    case 'opaque': {
      if (isChatPart(part.raw)) return part.raw
      const type = textOrEmpty(part.raw['type'])
      notes.write('unknown-part', { itemIndex, detail: type })
      return encodeNotice(
        `Something (${sanitizeNoticeName(type)}) was here, which cannot be shown.`,
      )
    }
  }
}

const KNOWN_DETAIL_LEVELS: ReadonlySet<string> = new Set(['auto', 'low', 'high'])

/**
 * True for a part in the format of Chat Completions, which has a field with the name of its type,
 * e.g. `{ type: 'video_url', video_url: … }`.
 */
function isChatPart(raw: JsonObject): boolean {
  const { type } = raw
  return typeof type === 'string' && (isObject(raw[type]) || typeof raw[type] === 'string')
}

/** Encodes a notice from the gateway, e.g. about a file that cannot be sent. */
export function encodeNotice(text: string): JsonObject {
  return { type: 'text', text: formatNotice(text) }
}
