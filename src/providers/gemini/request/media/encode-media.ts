/** Encodes media as a part of a request, or as the notice that replaces it. */
import { sanitizeNoticeName, formatNotice } from '../../../../core/text/gateway-notice.ts'
import type { Item, OpaqueItem, Part } from '../../../../core/item.ts'
import type { EncodingContext } from '../encoding-context.ts'
import { findMediaOverSizeLimit } from './find-media-over-size-limit.ts'
import { encodeInlineOrRefuse, classifyMedia, type ClassifiedMedia } from './classify-media.ts'
import type { NoteCode } from '../../encoding-notes.ts'
import type { GeminiPart } from '../../api-types.ts'

/** Encodes a medium; returns `null` if `source` is none. `at` is the index of its item. */
export type MediaEncoder = (source: Part | OpaqueItem, at: number) => GeminiPart | null

export function createMediaEncoder(items: readonly Item[], context: EncodingContext): MediaEncoder {
  const { quirks, notes } = context
  const oversized = findMediaOverSizeLimit(items, quirks.inlineLimitBytes)
  const createNotice = (why: NoteCode, label: string, at: number): GeminiPart => {
    notes.write(why, { at, detail: label })
    const reason = REASONS[why] ?? 'could not be sent'
    return { text: formatNotice(`The ${sanitizeNoticeName(label)} that was here ${reason}.`) }
  }
  return (source, at) => {
    const media = classify(source, quirks.remoteUrls)
    if (media === null) {
      if (source.type !== 'opaque') return null
      const type = source.raw['type']
      return createNotice('unknown-part', typeof type === 'string' ? `part "${type}"` : 'part', at)
    }
    if (source.type === 'input_image' && !['auto', undefined].includes(source.detail)) {
      notes.write('image-detail', { at })
    }
    if (media.kind === 'refused') return createNotice(media.why, media.label, at)
    if (media.kind === 'remote') {
      const { fileUri, mimeType } = media
      return { fileData: { fileUri, ...(mimeType === null ? {} : { mimeType }) } }
    }
    if (oversized.has(source))
      return createNotice('media-too-large', describeKind(media.blob.mimeType), at)
    return { inlineData: media.blob }
  }
}

const REASONS: Readonly<Partial<Record<NoteCode, string>>> = {
  'media-unsupported': 'is of a kind that cannot be read',
  'media-remote': 'is at an address that cannot be read',
  'media-unresolved': 'is not known here',
  'media-too-large': 'was left out because the conversation holds too many',
}

function classify(source: Part | OpaqueItem, canReadAnyUrl: boolean): ClassifiedMedia | null {
  const { result, output_format } = source.type === 'opaque' ? source.raw : NO_IMAGE
  if (typeof result !== 'string') return classifyMedia(source, canReadAnyUrl)
  const format = typeof output_format === 'string' ? output_format : 'png'
  return encodeInlineOrRefuse(`image/${format}`, result, 'image')
}

const NO_IMAGE: OpaqueItem['raw'] = {}

function describeKind(mimeType: string): string {
  const [kind = ''] = mimeType.split('/', 1)
  return kind === 'image' || kind === 'audio' || kind === 'video' ? kind : 'file'
}
