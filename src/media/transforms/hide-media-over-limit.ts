/**
 * Media that an upstream would refuse for their size become notices: each image that is too large by
 * itself, and the oldest of those that are too much together. They go in steps, each of a quarter of
 * what a request may hold, so that what is sent stays the same until the next one. What the newest
 * question shows is left: it is sent, or the request is refused (`rejectLargeMedia`).
 */
import type { Item, Part } from '../../core/item.ts'
import { listContentParts } from '../../core/media/media-handles.ts'
import type { Note } from '../../core/note.ts'
import { isUserMessage } from '../../core/items/rounds-and-pinned-items.ts'
import { ITEM_TRAITS } from '../../context/scan-items.ts'
import type { Transform } from '../../context/transform-interface.ts'
import { parseDataUrl } from '../../core/media/data-url.ts'
import { mapParts } from './map-parts.ts'
import { createHiddenMediaNotice } from '../hidden-media-notice.ts'
import type { UpstreamMediaSupport } from '../resolve-upstream-media-support.ts'

type Limits = Pick<UpstreamMediaSupport, 'maxImageChars' | 'maxRequestChars'>

export function hideMediaOverLimit(limits: Limits): Transform {
  const { maxImageChars, maxRequestChars } = limits
  return {
    name: 'media',
    needs: ITEM_TRAITS.media,
    prefixStability: 'lasting',
    run(items) {
      if (!items.some(holdsMedia)) return { items, notes: NONE }
      const newest = newestQuestion(items)
      const isTooLarge = (part: Part): boolean =>
        part.type === 'input_image' &&
        maxImageChars !== null &&
        countBase64Chars(part) > maxImageChars
      const upTo = maxRequestChars === null ? 0 : cutOf(items, newest, maxRequestChars, isTooLarge)
      return mapParts(items, (part, at) => {
        if (at >= newest) return null
        const isOld = at < upTo && countBase64Chars(part) > 0
        if (!isOld && !isTooLarge(part)) return null
        const [why, words] = isOld ? TOO_MUCH : TOO_LARGE
        const detail = `An older medium is not sent: ${words}. A notice stands in its place.`
        return { part: createHiddenMediaNotice(wordFor(part), words), why, detail }
      })
    },
  }
}

const NONE: readonly Note[] = []

function holdsMedia(item: Item): boolean {
  return listContentParts(item).some((part) => countBase64Chars(part) > 0)
}

const TOO_LARGE = ['media-oversized', 'it is larger than this model is shown'] as const
const TOO_MUCH = [
  'media-too-much',
  'the conversation holds more than this model can be shown at once',
] as const

/** Where the newest question of the user begins; behind everything, if there is none. */
function newestQuestion(items: readonly Item[]): number {
  let at = items.findLastIndex(isUserMessage)
  if (at === -1) return items.length
  while (isUserMessage(items[at - 1])) at -= 1
  return at
}

/** Everything before this place goes: so much, in whole steps, that the rest fits. */
function cutOf(
  items: readonly Item[],
  newest: number,
  limit: number,
  isTooLarge: (part: Part) => boolean,
): number {
  const sizes = items.map((item, at) =>
    listContentParts(item).reduce(
      (sum, part) => sum + (at < newest && isTooLarge(part) ? 0 : countBase64Chars(part)),
      0,
    ),
  )
  const over = sizes.reduce((sum, size) => sum + size, 0) - limit
  if (over <= 0) return 0
  const step = limit / STEPS
  let left = Math.ceil(over / step) * step
  for (let at = 0; at < newest; at++) {
    if (left <= 0) return at
    left -= sizes[at] ?? 0
  }
  return newest
}

const STEPS = 4

/** How much base64 it holds. */
export function countBase64Chars(part: Part): number {
  switch (part.type) {
    case 'input_image':
      return inlineChars(part.image_url)
    case 'input_file':
      return part.file_data?.length ?? 0
    case 'input_audio':
      return part.input_audio.data.length
    case 'opaque': {
      const { video_url: video } = part.raw
      return inlineChars(typeof video === 'object' ? (video as { url?: unknown }).url : video)
    }
    case 'input_text':
    case 'output_text':
    case 'refusal':
      return 0
  }
}

function inlineChars(url: unknown): number {
  return typeof url === 'string' ? (parseDataUrl(url)?.base64.length ?? 0) : 0
}

function wordFor({ type }: Part): string {
  return type === 'input_image' ? 'image' : type === 'input_audio' ? 'audio' : 'file'
}

/** A sentence on what the newest question shows that cannot be sent; `null` if all of it can. */
export function findOversizedMedia(items: readonly Item[], limits: Limits): OversizedMedia | null {
  const { maxImageChars, maxRequestChars } = limits
  let all = 0
  let last = -1
  for (let at = newestQuestion(items); at < items.length; at++) {
    const item = items[at]
    for (const part of item === undefined ? [] : listContentParts(item)) {
      const size = countBase64Chars(part)
      if (size > 0) last = at
      all += size
      if (part.type === 'input_image' && maxImageChars !== null && size > maxImageChars) {
        return { at, sentence: sentenceOf('An image', size, `${megabytes(maxImageChars)} each`) }
      }
    }
  }
  if (maxRequestChars === null || all <= maxRequestChars) return null
  return {
    at: last,
    sentence: sentenceOf('What is shown', all, `${megabytes(maxRequestChars)} a request`),
  }
}

export interface OversizedMedia {
  readonly at: number
  readonly sentence: string
}

function sentenceOf(what: string, size: number, limit: string): string {
  return `${what} is ${megabytes(size)} as base64, and this model takes ${limit}. Send it smaller.`
}

function megabytes(chars: number): string {
  return `${(chars / 1_000_000).toFixed(1)} MB`
}
