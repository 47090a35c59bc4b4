/**
 * The parts of a message in chat's form. Text alone becomes a plain string, because many services
 * take nothing else.
 */
import { sanitizeNoticeName, formatNotice } from '../../../core/text/gateway-notice.ts'
import { isText, textOfPart, type Part } from '../../../core/item.ts'
import { isObject, textOrEmpty, type Json, type JsonObject } from '../../../core/json/json.ts'
import type { NoteCollector } from '../encoding-notes.ts'

export interface PartEncodingContext {
  readonly at: number
  readonly notes: NoteCollector
  /** What chat says of the parts beyond the waist, by place. It keeps several texts apart. */
  readonly partFields?: readonly (JsonObject | null)[] | undefined
}

export function encodeContent(parts: readonly Part[], context: PartEncodingContext): Json {
  // Fields of parts belong to them only while nobody has added a part or taken one away.
  const extras = context.partFields?.length === parts.length ? context.partFields : undefined
  if (extras === undefined && parts.every(isText)) return joinText(parts, context)
  return parts.map((part, place) => ({ ...encodePart(part, context), ...extras?.[place] }))
}

/** What can be looked at or listened to, or is at least no text. */
export function isMediaPart(part: Part): boolean {
  return !isText(part)
}

/** What a model said is one text, however it was cut; what it is told may be several. */
function joinText(parts: readonly Part[], { at, notes }: PartEncodingContext): string {
  const texts = parts.map(textOfPart)
  if (texts.length < 2 || parts[0]?.type !== 'input_text') return texts.join('')
  notes.write('text-joined', { at })
  return texts.join('\n')
}

export function encodePart(part: Part, { at, notes }: PartEncodingContext): JsonObject {
  switch (part.type) {
    case 'input_text':
    case 'output_text':
      return { type: 'text', text: part.text }
    case 'refusal':
      return { type: 'text', text: part.refusal }
    case 'input_image': {
      const { image_url: url, detail } = part
      if (typeof url !== 'string' || url === '') {
        notes.write('image-without-url', { at })
        return encodeNotice('An image was here, which cannot be shown.')
      }
      if (detail === undefined || KNOWN_DETAIL_LEVELS.has(detail)) {
        return { type: 'image_url', image_url: detail === undefined ? { url } : { url, detail } }
      }
      notes.write('image-detail-changed', { at, detail })
      return { type: 'image_url', image_url: { url } }
    }
    case 'input_file': {
      const { file_data, file_id, filename } = part
      if (file_data === undefined && typeof file_id !== 'string') {
        notes.write('file-by-url', { at })
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
      const kind = textOrEmpty(part.raw['type'])
      if (isChatPart(part.raw)) return part.raw
      notes.write('unknown-part', { at, detail: kind })
      return encodeNotice(
        `Something (${sanitizeNoticeName(kind)}) was here, which cannot be shown.`,
      )
    }
  }
}

const KNOWN_DETAIL_LEVELS: ReadonlySet<string> = new Set(['auto', 'low', 'high'])

/** Chat's parts hold what they are under their own name: `{ type: 'video_url', video_url: … }`. */
function isChatPart(raw: JsonObject): boolean {
  const { type } = raw
  return typeof type === 'string' && (isObject(raw[type]) || typeof raw[type] === 'string')
}

/** A part of its own; what it tells may follow. */
export function encodeNotice(text: string): JsonObject {
  return { type: 'text', text: formatNotice(text) }
}
