/** Encodes a medium as a part of a request, or as the notice that replaces it. */
import type { Item, OpaqueItem, Part } from '../../../../core/item.ts'
import { sanitizeNoticeName, formatNotice } from '../../../../core/text/gateway-notice.ts'
import type { GeminiPart } from '../../api-types.ts'
import type { NoteCode } from '../../encoding-notes.ts'
import type { EncodingContext } from '../encoding-context.ts'
import { classifyInlineMedium, classifyMedia, type ClassifiedMedia } from './classify-media.ts'

/**
 * Encodes a medium. A medium that cannot be sent, and a part of unknown type, becomes a notice.
 * Returns `null` for text and refusals. `itemIndex` is the index of the item that contains the
 * medium.
 */
export type MediaEncoder = (source: Part | OpaqueItem, itemIndex: number) => GeminiPart | null

export function createMediaEncoder(items: readonly Item[], context: EncodingContext): MediaEncoder {
  const { quirks, notes } = context
  const oversized = findMediaOverSizeLimit(items, quirks.inlineLimitBytes)
  const createNotice = (why: NoteCode, label: string, itemIndex: number): GeminiPart => {
    notes.write(why, { itemIndex, detail: label })
    const reason = REASONS[why] ?? 'could not be sent'
    return { text: formatNotice(`The ${sanitizeNoticeName(label)} that was here ${reason}.`) }
  }
  return (source, itemIndex) => {
    const media = classify(source, quirks.remoteUrls)
    if (media === null) {
      if (source.type !== 'opaque') return null
      const type = source.raw['type']
      const label = typeof type === 'string' ? `part "${type}"` : 'part'
      return createNotice('unknown-part', label, itemIndex)
    }
    if (source.type === 'input_image' && !['auto', undefined].includes(source.detail)) {
      notes.write('image-detail', { itemIndex })
    }
    if (media.kind === 'refused') return createNotice(media.why, media.label, itemIndex)
    if (media.kind === 'remote') {
      const { fileUri, mimeType } = media
      return { fileData: { fileUri, ...(mimeType === null ? {} : { mimeType }) } }
    }
    if (oversized.has(source))
      return createNotice('media-too-large', describeKind(media.blob.mimeType), itemIndex)
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
  return classifyInlineMedium(`image/${format}`, result, 'image')
}

const NO_IMAGE: OpaqueItem['raw'] = {}

function describeKind(mimeType: string): string {
  const [kind = ''] = mimeType.split('/', 1)
  return kind === 'image' || kind === 'audio' || kind === 'video' ? kind : 'file'
}

/**
 * Finds the media that are left out to keep all media of a request below Gemini's size limit.
 * Counts from the last item to the first, so that the latest media are sent.
 * https://ai.google.dev/gemini-api/docs/file-input-methods
 */
function findMediaOverSizeLimit(
  items: readonly Item[],
  limitBytes: number,
): ReadonlySet<Part | OpaqueItem> {
  const oversized = new Set<Part | OpaqueItem>()
  let bytes = 0
  for (const item of items.toReversed()) {
    for (const part of listParts(item).toReversed()) {
      const size = countInlineChars(part)
      // An older medium may still fit if it is smaller, so the loop goes on.
      if (bytes + size > limitBytes) oversized.add(part)
      else bytes += size
    }
  }
  return oversized
}

function listParts(item: Item): readonly (Part | OpaqueItem)[] {
  switch (item.type) {
    case 'message':
      return item.content
    case 'function_call_output':
    case 'custom_tool_call_output':
      return typeof item.output === 'string' ? [] : item.output
    case 'opaque':
      return [item]
    case 'function_call':
    case 'custom_tool_call':
    case 'reasoning':
      return []
  }
}

function countInlineChars(part: Part | OpaqueItem): number {
  if (part.type === 'opaque' && typeof part.raw['result'] === 'string') {
    return part.raw['result'].length
  }
  const media = classifyMedia(part, false)
  return media?.kind === 'inline' ? media.blob.data.length : 0
}
