/**
 * Selects the media that are hidden from the model, with the reason. `replace-hidden-media.ts` replaces them.
 * Policies count rounds as turns (`keepTurns`).
 */
import type { MediaRules } from '../../core/context-policy.ts'
import type { Item } from '../../core/item.ts'
import {
  isAssistantMessage,
  isUserMessage,
  findQuestionEnd,
  findRoundStarts,
} from '../../core/items/rounds-and-pinned-items.ts'
import {
  readPartMedia,
  type MediaKind,
  type PartMedia,
} from '../../core/media/content-part-media.ts'
import { listContentParts } from '../../core/media/media-handles.ts'
import { createMediaIdentityMap } from '../../core/media/media-identity-map.ts'
import { createSinglePinPredicate } from '../find-undroppable-items.ts'
import { findImageCutoff } from './cache-aware-image-cutoff.ts'
import { findMediaCutoff, type WeighedMedia } from './media-limit-cutoff.ts'

export interface HiddenMedia {
  readonly medium: PartMedia
  readonly why:
    | 'media-outside-window'
    | 'media-too-old'
    | 'media-over-limit'
    | 'media-over-bytes'
    | 'media-repeated'
    | 'media-unseen'
}

type VisibilityRules = MediaVisibilityOptions['rules'] & { readonly outputsStay: boolean }

/** The hidden media, by the index of the item and the index of the part. */
export type HiddenMediaByPart = ReadonlyMap<number, ReadonlyMap<number, HiddenMedia>>

export function selectMediaToHide(
  items: readonly Item[],
  rules: VisibilityRules,
  sees: ReadonlySet<MediaKind>,
): HiddenMediaByPart {
  const hidden = new Map<number, Map<number, HiddenMedia>>()
  const all = locateMedia(items)
  if (all.length === 0) return hidden
  const hide = ({ itemIndex, partIndex, medium }: LocatedMedia, why: HiddenMedia['why']): void => {
    const parts = hidden.get(itemIndex) ?? new Map<number, HiddenMedia>()
    hidden.set(itemIndex, parts.set(partIndex, { medium, why }))
  }
  const accepted = all.filter(({ medium }) => sees.has(medium.kind))
  const repeated = rules.repeated === 'last' ? findRepeated(accepted) : new Set<LocatedMedia>()
  const exceedsLimit = createLimitCheck(items, accepted, repeated, rules)
  for (const media of all) {
    if (!sees.has(media.medium.kind)) hide(media, 'media-unseen')
    else if (!media.isPinned && media.zone !== 'question') {
      const why = exceedsLimit(media) ?? (repeated.has(media) ? 'media-repeated' : null)
      if (why !== null) hide(media, why)
    }
  }
  return hidden
}

/** One occurrence of an image, recording or file. */
interface LocatedMedia {
  readonly itemIndex: number
  readonly partIndex: number
  readonly medium: PartMedia
  readonly zone: WeighedMedia['zone']
  /** True if the item is pinned or in the head, so that its media are never hidden. */
  readonly isPinned: boolean
  /** The index of the first message of the same question; for other items their own index. */
  readonly unit: number
}

function locateMedia(items: readonly Item[]): readonly LocatedMedia[] {
  const located: LocatedMedia[] = []
  const stays = createSinglePinPredicate(items)
  const start = findRoundStarts(items).at(-1) ?? items.length
  const end = findQuestionEnd(items, start)
  let unit = 0
  // Index loops instead of iterators: this runs over all parts, and most conversations have no media.
  for (let itemIndex = 0; itemIndex < items.length; itemIndex += 1) {
    const item = items[itemIndex]
    if (item === undefined) continue
    if (!isUserMessage(item) || !isUserMessage(items[itemIndex - 1])) unit = itemIndex
    const parts = listContentParts(item)
    for (let partIndex = 0; partIndex < parts.length; partIndex += 1) {
      const part = parts[partIndex]
      const medium = part === undefined ? null : readPartMedia(part)
      if (medium === null) continue
      const zone = itemIndex < start ? 'before' : itemIndex < end ? 'question' : 'since'
      const isPinned = stays(itemIndex, item)
      located.push({ itemIndex, partIndex, medium, zone, isPinned, unit })
    }
  }
  return located
}

/** Returns the images that come again in a later question or item. */
function findRepeated(all: readonly LocatedMedia[]): ReadonlySet<LocatedMedia> {
  const last = createMediaIdentityMap<number>()
  for (const { medium, unit } of all) last.set(medium.identity, unit)
  return new Set(
    all.filter(({ medium, unit }) => medium.kind === 'image' && last.get(medium.identity) !== unit),
  )
}

/** Returns a function that names the limit that a medium exceeds, or `null` if it exceeds none. */
function createLimitCheck(
  items: readonly Item[],
  all: readonly LocatedMedia[],
  repeated: ReadonlySet<LocatedMedia>,
  { window, keepTurns, step, outputsStay, imageMessages, images, bytes }: VisibilityRules,
): (media: LocatedMedia) => HiddenMedia['why'] | null {
  const { scales, positions } = measure(all, repeated)
  const isInWindow = window === null ? null : createWindowCheck(items, window)
  const findCutoff = (scale: Scale, limit: number | null): number =>
    limit === null ? 0 : findMediaCutoff(scales[scale], limit)
  const cutoffs = {
    items: findCutoff('items', imageMessages),
    images: findCutoff('images', images),
    bytes: findCutoff('bytes', bytes),
  }
  const imageCutoff =
    keepTurns === null ? 0 : findImageCutoff(items, { keepTurns, step, outputsStay })
  return (media) => {
    if (isInWindow !== null && !isInWindow(media.itemIndex)) return 'media-outside-window'
    const position = positions.get(media)
    if (position === undefined) return null
    if (media.medium.kind === 'image') {
      if (media.itemIndex < imageCutoff) return 'media-too-old'
      if (position.items < cutoffs.items || position.images < cutoffs.images)
        return 'media-over-limit'
    }
    return position.bytes < cutoffs.bytes ? 'media-over-bytes' : null
  }
}

type Scale = 'items' | 'images' | 'bytes'

interface MediaMeasures {
  readonly scales: Readonly<Record<Scale, readonly WeighedMedia[]>>
  /** The start of each medium on each scale. */
  readonly positions: ReadonlyMap<LocatedMedia, Readonly<Record<Scale, number>>>
}

/** Measures media on three scales: items with images, images, and bytes. */
function measure(all: readonly LocatedMedia[], repeated: ReadonlySet<LocatedMedia>): MediaMeasures {
  const scales = {
    items: [] as WeighedMedia[],
    images: [] as WeighedMedia[],
    bytes: [] as WeighedMedia[],
  }
  const positions = new Map<LocatedMedia, Record<Scale, number>>()
  let lastItem = -1
  let items = -1
  let isItemCounted = false
  let images = 0
  let bytes = 0
  for (const media of all) {
    const { medium, zone, itemIndex, isPinned } = media
    // Pinned media never count, even in the latest question: otherwise the cutoff would move back when the
    // next question comes. An image that is repeated counts only at its last occurrence.
    const isCounted = !isPinned && (zone === 'question' || !repeated.has(media))
    if (medium.kind === 'image') {
      if (itemIndex !== lastItem) {
        lastItem = itemIndex
        items += 1
        isItemCounted = false
      }
      const weight = isCounted ? 1 : 0
      const itemWeight = isItemCounted ? 0 : weight
      scales.items.push({ from: items, to: items + 1, weight: itemWeight, zone })
      scales.images.push({ from: images, to: images + 1, weight, zone })
      isItemCounted ||= isCounted
    }
    const weight = isCounted ? medium.bytes : 0
    scales.bytes.push({ from: bytes, to: bytes + medium.bytes, weight, zone })
    positions.set(media, { items: Math.max(0, items), images, bytes })
    if (medium.kind === 'image') images += 1
    bytes += medium.bytes
  }
  return { scales, positions }
}

/**
 * Returns a function that is true for the latest `window` messages and the items after each of them. The
 * window moves in steps of half its size: `window: 10` shows media of 6 to 10 messages.
 */
function createWindowCheck(items: readonly Item[], window: number): (index: number) => boolean {
  let messages = 0
  const numbers = items.map((item) => {
    if (isUserMessage(item) || isAssistantMessage(item)) messages += 1
    return Math.max(0, messages - 1)
  })
  const excess = messages - window
  if (excess <= 0) return () => true
  const step = Math.max(1, Math.ceil(window / 2))
  const cut = Math.ceil(excess / step) * step
  return (index) => (numbers[index] ?? 0) >= cut
}

export interface MediaVisibilityOptions {
  readonly rules: Pick<
    MediaRules,
    'window' | 'keepTurns' | 'step' | 'imageMessages' | 'images' | 'repeated' | 'bytes'
  >
  /** True if tool outputs are sent unshortened. Default: true. */
  readonly outputsStay?: boolean
  /** The kinds of media that the model accepts. */
  readonly sees: ReadonlySet<MediaKind>
  /** True if the model is offered a tool to view hidden media. */
  readonly canView: boolean
  /** The complete conversation, if the list is a part of it; handles are numbered over all of it. */
  readonly conversation?: readonly Item[]
}
