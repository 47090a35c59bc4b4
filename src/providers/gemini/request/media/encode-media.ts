/** A medium as a part of a request, or the notice that stands in its place. */
import { sanitizeNoticeName, formatNotice } from '../../../../core/text/gateway-notice.ts'
import type { Item, OpaqueItem, Part } from '../../../../core/item.ts'
import type { EncodingContext } from '../encoding-context.ts'
import { findMediaOverSizeLimit } from './find-media-over-size-limit.ts'
import { classifyInlineMedia, classifyMedia, type ClassifiedMedia } from './classify-media.ts'
import type { NoteCode } from '../../encoding-notes.ts'
import type { GeminiPart } from '../../api-types.ts'

/** `null` for a part that is no medium. `at` is the place of its item. */
export type MediaEncoder = (medium: Part | OpaqueItem, at: number) => GeminiPart | null

export function createMediaEncoder(items: readonly Item[], context: EncodingContext): MediaEncoder {
  const { quirks, notebook } = context
  const tooMuch = findMediaOverSizeLimit(items, quirks.inlineLimitBytes)
  const notice = (why: NoteCode, what: string, at: number): GeminiPart => {
    notebook.write(why, { at, detail: what })
    const reason = REASONS[why] ?? 'could not be sent'
    return { text: formatNotice(`The ${sanitizeNoticeName(what)} that was here ${reason}.`) }
  }
  return (medium, at) => {
    const media = read(medium, quirks.remoteUrls)
    if (media === null) {
      if (medium.type !== 'opaque') return null
      const type = medium.raw['type']
      return notice('unknown-part', typeof type === 'string' ? `part "${type}"` : 'part', at)
    }
    if (medium.type === 'input_image' && !['auto', undefined].includes(medium.detail)) {
      notebook.write('image-detail', { at })
    }
    if (media.kind === 'refused') return notice(media.why, media.what, at)
    if (media.kind === 'remote') {
      const { fileUri, mimeType } = media
      return { fileData: { fileUri, ...(mimeType === null ? {} : { mimeType }) } }
    }
    if (tooMuch.has(medium)) return notice('media-too-large', kindOf(media.blob.mimeType), at)
    return { inlineData: media.blob }
  }
}

const REASONS: Readonly<Partial<Record<NoteCode, string>>> = {
  'media-unsupported': 'is of a kind that cannot be read',
  'media-remote': 'is at an address that cannot be read',
  'media-unresolved': 'is not known here',
  'media-too-large': 'was left out because the conversation holds too many',
}

function read(medium: Part | OpaqueItem, anyUrl: boolean): ClassifiedMedia | null {
  const { result, output_format } = medium.type === 'opaque' ? medium.raw : NO_IMAGE
  if (typeof result !== 'string') return classifyMedia(medium, anyUrl)
  const format = typeof output_format === 'string' ? output_format : 'png'
  return classifyInlineMedia(`image/${format}`, result, 'image')
}

const NO_IMAGE: OpaqueItem['raw'] = {}

function kindOf(mimeType: string): string {
  const [kind = ''] = mimeType.split('/', 1)
  return kind === 'image' || kind === 'audio' || kind === 'video' ? kind : 'file'
}
