/**
 * Selects the media that are hidden from the model, each with the reason. `replace-hidden-media.ts` puts notices in
 * their places.
 */
import type { MediaRules } from '../../core/context-policy.ts'
import type { Item } from '../../core/item.ts'
import { countOldRounds } from '../../core/items/count-old-rounds.ts'
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
import { createMapKeyedByMedia } from '../../core/media/map-keyed-by-media.ts'
import { createSinglePinPredicate } from '../always-sent-items.ts'
import { findMediaLimitCutoff, type WeighedMedia } from './find-media-limit-cutoff.ts'

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

/** Returns the value 1 at the index of each item whose images are hidden because they are old. */
export type OldImageFinder = (items: readonly Item[]) => Uint8Array

export interface MediaSelectionOptions {
  readonly rules: MediaRules
  /** The kinds of media that the model accepts. */
  readonly acceptedMediaKinds: ReadonlySet<MediaKind>
  /** Finds the old images that are hidden. Without it, all images are hidden that `keepTurns` does not keep. */
  readonly findOldImages?: OldImageFinder | undefined
}

/** The hidden media, by the index of the item and then by the index of the content part. */
export type HiddenMediaByPart = ReadonlyMap<number, ReadonlyMap<number, HiddenMedia>>

export function selectMediaToHide(
  items: readonly Item[],
  { rules, acceptedMediaKinds: acceptedKinds, findOldImages }: MediaSelectionOptions,
): HiddenMediaByPart {
  const hidden = new Map<number, Map<number, HiddenMedia>>()
  const all = locateMedia(items)
  if (all.length === 0) return hidden
  const hide = ({ itemIndex, partIndex, medium }: LocatedMedia, why: HiddenMedia['why']): void => {
    const parts = hidden.get(itemIndex) ?? new Map<number, HiddenMedia>()
    hidden.set(itemIndex, parts.set(partIndex, { medium, why }))
  }
  const accepted = all.filter(({ medium }) => acceptedKinds.has(medium.kind))
  const repeated = rules.repeated === 'last' ? findRepeated(accepted) : new Set<LocatedMedia>()
  const exceedsLimit = createLimitCheck(items, accepted, repeated, { rules, findOldImages })
  for (const media of all) {
    if (!acceptedKinds.has(media.medium.kind)) hide(media, 'media-unseen')
    else if (!media.isPinned && media.section !== 'question') {
      const why = exceedsLimit(media) ?? (repeated.has(media) ? 'media-repeated' : null)
      if (why !== null) hide(media, why)
    }
  }
  return hidden
}

/** One occurrence of an image, recording or file in the conversation. */
interface LocatedMedia {
  readonly itemIndex: number
  readonly partIndex: number
  readonly medium: PartMedia
  readonly section: WeighedMedia['section']
  /**
   * True if the item is always sent, e.g. because it is pinned or a leading instruction. Its media are hidden only if
   * the model does not accept them.
   */
  readonly isPinned: boolean
  /**
   * The index of the first message of the question that contains the medium; for any other item, its own index. An
   * image that occurs twice with the same index does not count as repeated.
   */
  readonly questionStart: number
}

function locateMedia(items: readonly Item[]): readonly LocatedMedia[] {
  const located: LocatedMedia[] = []
  const stays = createSinglePinPredicate(items)
  const start = findRoundStarts(items).at(-1) ?? items.length
  const end = findQuestionEnd(items, start)
  let questionStart = 0
  // Index loops are faster than iterators. This function visits all parts of each conversation.
  for (let itemIndex = 0; itemIndex < items.length; itemIndex += 1) {
    const item = items[itemIndex]
    if (item === undefined) continue
    if (!isUserMessage(item) || !isUserMessage(items[itemIndex - 1])) questionStart = itemIndex
    const parts = listContentParts(item)
    for (let partIndex = 0; partIndex < parts.length; partIndex += 1) {
      const part = parts[partIndex]
      const medium = part === undefined ? null : readPartMedia(part)
      if (medium === null) continue
      const section = itemIndex < start ? 'earlier' : itemIndex < end ? 'question' : 'later'
      const isPinned = stays(itemIndex, item)
      located.push({ itemIndex, partIndex, medium, section, isPinned, questionStart })
    }
  }
  return located
}

/** Returns each occurrence of an image that is followed by the same image in a later question or item. */
function findRepeated(all: readonly LocatedMedia[]): ReadonlySet<LocatedMedia> {
  const last = createMapKeyedByMedia<number>()
  for (const { medium, questionStart } of all) last.set(medium.identity, questionStart)
  return new Set(
    all.filter(
      ({ medium, questionStart }) =>
        medium.kind === 'image' && last.get(medium.identity) !== questionStart,
    ),
  )
}

/**
 * Returns a function that checks one medium against all limits of the policy. It returns the note code of the first
 * limit that the medium exceeds, or `null` if it exceeds none.
 */
function createLimitCheck(
  items: readonly Item[],
  all: readonly LocatedMedia[],
  repeated: ReadonlySet<LocatedMedia>,
  { rules, findOldImages }: Pick<MediaSelectionOptions, 'rules' | 'findOldImages'>,
): (media: LocatedMedia) => HiddenMedia['why'] | null {
  const { window, keepTurns, step, imageMessages, images, bytes } = rules
  const scales = measure(all, repeated)
  const isInWindow = window === null ? () => true : createWindowCheck(items, window)
  const beyondItems = listMediaBeyondLimit(scales.items, imageMessages)
  const beyondImages = listMediaBeyondLimit(scales.images, images)
  const beyondBytes = listMediaBeyondLimit(scales.bytes, bytes)
  const oldImages = keepTurns === null ? undefined : findOldImages?.(items)
  const isOld =
    keepTurns === null || oldImages !== undefined
      ? (index: number) => oldImages?.[index] === 1
      : createAgeCheck(items, keepTurns, step)
  return (media) => {
    if (!isInWindow(media.itemIndex)) return 'media-outside-window'
    if (media.medium.kind === 'image' && isOld(media.itemIndex)) return 'media-too-old'
    if (beyondItems.has(media) || beyondImages.has(media)) return 'media-over-limit'
    return beyondBytes.has(media) ? 'media-over-bytes' : null
  }
}

function createAgeCheck(items: readonly Item[], keepTurns: number, step: number) {
  const starts = findRoundStarts(items)
  const old = countOldRounds(starts.length, keepTurns, step)
  const cutoff = old > 0 ? (starts[old] ?? 0) : 0
  return (index: number): boolean => index < cutoff
}

interface MeasuredMedia extends WeighedMedia {
  readonly media: LocatedMedia
}

function listMediaBeyondLimit(
  scale: readonly MeasuredMedia[],
  limit: number | null,
): ReadonlySet<LocatedMedia> {
  const cutoff = limit === null ? 0 : findMediaLimitCutoff(scale, limit)
  return new Set(scale.flatMap(({ media, scaleStart }) => (scaleStart < cutoff ? [media] : [])))
}

/**
 * Measures the media as three limits of the policy count them: by items that contain images, by images, and by bytes.
 */
function measure(all: readonly LocatedMedia[], repeated: ReadonlySet<LocatedMedia>) {
  const items: MeasuredMedia[] = []
  const images: MeasuredMedia[] = []
  const bytes: MeasuredMedia[] = []
  let isItemCounted = false
  for (const media of all) {
    const { medium, section, itemIndex, isPinned } = media
    const measureFrom = (start: number, length: number, weight: number): MeasuredMedia => {
      return { media, section, scaleStart: start, scaleEnd: start + length, weight }
    }
    // Pinned media never count, not even in the latest question. Otherwise the cutoff would move back when the next
    // question comes. With `media.repeated: last`, an image counts only where it is shown: at its last occurrence and
    // in the latest question.
    const isCounted = !isPinned && (section === 'question' || !repeated.has(media))
    if (medium.kind === 'image') {
      const previous = items.at(-1)
      const isSameItem = previous?.media.itemIndex === itemIndex
      const start = (isSameItem ? previous.scaleStart : previous?.scaleEnd) ?? 0
      isItemCounted &&= isSameItem
      items.push(measureFrom(start, 1, isCounted && !isItemCounted ? 1 : 0))
      images.push(measureFrom(images.length, 1, isCounted ? 1 : 0))
      isItemCounted ||= isCounted
    }
    const start = bytes.at(-1)?.scaleEnd ?? 0
    bytes.push(measureFrom(start, medium.bytes, isCounted ? medium.bytes : 0))
  }
  return { items, images, bytes }
}

/**
 * Returns a function that is true for the index of an item inside the media window: the latest messages, at most
 * `window`, and the tool items between them. The window moves in steps of half its size: `window: 10` shows the media
 * of the latest 6 to 10 messages.
 */
function createWindowCheck(items: readonly Item[], window: number): (index: number) => boolean {
  let messages = 0
  const messageNumbers = items.map((item) => {
    if (isUserMessage(item) || isAssistantMessage(item)) messages += 1
    return Math.max(0, messages - 1)
  })
  const excess = messages - window
  if (excess <= 0) return () => true
  const step = Math.max(1, Math.ceil(window / 2))
  const cut = Math.ceil(excess / step) * step
  return (index) => (messageNumbers[index] ?? 0) >= cut
}
