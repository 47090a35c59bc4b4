/**
 * Replaces media by notices if it exceeds an upstream's size limits: each image that is too large,
 * and the oldest media if all media together are too large. The size of the oldest media to hide is
 * rounded up to a quarter of the request limit, so that most turns hide the same media as the turn
 * before. Media of the latest question is never hidden: it is sent, or the request is rejected
 * (`rejectLargeMedia`).
 */
import type { Item, Part } from '../../core/item.ts'
import { listContentParts } from '../../core/media/media-handles.ts'
import type { Note } from '../../core/note.ts'
import { isUserMessage } from '../../core/items/rounds-and-pinned-items.ts'
import { ITEM_TRAITS } from '../../context/detect-item-traits.ts'
import type { Transform } from '../../context/transform-interface.ts'
import { parseDataUrl } from '../../core/media/data-url.ts'
import { mapParts } from './map-parts.ts'
import { createHiddenMediaNotice } from '../create-hidden-media-notice.ts'
import type { UpstreamMediaUrlsAndLimits } from '../resolve-upstream-media-urls-and-limits.ts'

type Limits = Pick<UpstreamMediaUrlsAndLimits, 'maxImageChars' | 'maxRequestChars'>

export function hideMediaOverSizeLimit(limits: Limits): Transform {
  const { maxImageChars, maxRequestChars } = limits
  return {
    name: 'media',
    requiredTraits: ITEM_TRAITS.media,
    prefixChanges: 'permanent',
    run(items) {
      if (!items.some(hasInlineMedia)) return { items, notes: NO_NOTES }
      const questionStart = findLatestQuestion(items)
      const isTooLarge = (part: Part): boolean =>
        part.type === 'input_image' &&
        maxImageChars !== null &&
        countBase64Chars(part) > maxImageChars
      const cutIndex =
        maxRequestChars === null
          ? 0
          : findCutIndex(items, questionStart, maxRequestChars, isTooLarge)
      return mapParts(items, (part, index) => {
        if (index >= questionStart) return null
        const isOld = index < cutIndex && countBase64Chars(part) > 0
        if (!isOld && !isTooLarge(part)) return null
        const [why, reason] = isOld ? TOO_MUCH_MEDIA : IMAGE_TOO_LARGE
        const detail = `An older medium is not sent: ${reason}. A notice stands in its place.`
        return { part: createHiddenMediaNotice(describeMediaKind(part), reason), why, detail }
      })
    },
  }
}

const NO_NOTES: readonly Note[] = []

function hasInlineMedia(item: Item): boolean {
  return listContentParts(item).some((part) => countBase64Chars(part) > 0)
}

const IMAGE_TOO_LARGE = ['media-oversized', 'it is larger than this model is shown'] as const
const TOO_MUCH_MEDIA = [
  'media-too-much',
  'the conversation holds more than this model can be shown at once',
] as const

/**
 * Returns the index at which the latest user question begins, or the length of the list if there is
 * none.
 */
function findLatestQuestion(items: readonly Item[]): number {
  let index = items.findLastIndex(isUserMessage)
  if (index === -1) return items.length
  while (isUserMessage(items[index - 1])) index -= 1
  return index
}

/**
 * Returns the index before which all media is hidden, so that the rest fits. The size to hide is
 * rounded up to a multiple of a quarter of the limit.
 */
function findCutIndex(
  items: readonly Item[],
  questionStart: number,
  limit: number,
  isTooLarge: (part: Part) => boolean,
): number {
  const sizes = items.map((item, index) =>
    listContentParts(item).reduce(
      (sum, part) => sum + (index < questionStart && isTooLarge(part) ? 0 : countBase64Chars(part)),
      0,
    ),
  )
  const excess = sizes.reduce((sum, size) => sum + size, 0) - limit
  if (excess <= 0) return 0
  const step = limit / STEPS_PER_LIMIT
  let remaining = Math.ceil(excess / step) * step
  for (let index = 0; index < questionStart; index++) {
    if (remaining <= 0) return index
    remaining -= sizes[index] ?? 0
  }
  return questionStart
}

const STEPS_PER_LIMIT = 4

/** Counts the base64 characters in a part. */
export function countBase64Chars(part: Part): number {
  switch (part.type) {
    case 'input_image':
      return countDataUrlChars(part.image_url)
    case 'input_file':
      return part.file_data?.length ?? 0
    case 'input_audio':
      return part.input_audio.data.length
    case 'opaque': {
      const { video_url: video } = part.raw
      return countDataUrlChars(typeof video === 'object' ? (video as { url?: unknown }).url : video)
    }
    case 'input_text':
    case 'output_text':
    case 'refusal':
      return 0
  }
}

function countDataUrlChars(url: unknown): number {
  return typeof url === 'string' ? (parseDataUrl(url)?.base64.length ?? 0) : 0
}

function describeMediaKind({ type }: Part): string {
  return type === 'input_image' ? 'image' : type === 'input_audio' ? 'audio' : 'file'
}

/**
 * Returns which media of the latest question exceeds a limit, with an error message for the client,
 * or `null` if there is none.
 */
export function findOversizedMedia(items: readonly Item[], limits: Limits): OversizedMedia | null {
  const { maxImageChars, maxRequestChars } = limits
  let totalChars = 0
  let lastIndex = -1
  for (let index = findLatestQuestion(items); index < items.length; index++) {
    const item = items[index]
    for (const part of item === undefined ? [] : listContentParts(item)) {
      const size = countBase64Chars(part)
      if (size > 0) lastIndex = index
      totalChars += size
      if (part.type === 'input_image' && maxImageChars !== null && size > maxImageChars) {
        return {
          itemIndex: index,
          message: formatSizeError('An image', size, `${formatMegabytes(maxImageChars)} each`),
        }
      }
    }
  }
  if (maxRequestChars === null || totalChars <= maxRequestChars) return null
  return {
    itemIndex: lastIndex,
    message: formatSizeError(
      'What is shown',
      totalChars,
      `${formatMegabytes(maxRequestChars)} a request`,
    ),
  }
}

export interface OversizedMedia {
  readonly itemIndex: number
  readonly message: string
}

function formatSizeError(what: string, size: number, limit: string): string {
  return `${what} is ${formatMegabytes(size)} as base64, and this model takes ${limit}. Send it smaller.`
}

function formatMegabytes(chars: number): string {
  return `${(chars / 1_000_000).toFixed(1)} MB`
}
