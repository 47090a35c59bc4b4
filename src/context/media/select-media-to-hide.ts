/** Which media are not shown, and why: `replace-hidden-media.ts` says what is promised of it. */
import type { MediaRules } from '../../core/context-policy.ts'
import type { Item } from '../../core/item.ts'
import {
  countHeadItems,
  isAssistantMessage,
  isPinned,
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

type Rules = MediaVisibilityOptions['rules'] & { readonly outputsStay: boolean }

/** Of what is hidden, by the place of the item and that of the part. */
export type HiddenMediaByPart = ReadonlyMap<number, ReadonlyMap<number, HiddenMedia>>

export function selectMediaToHide(
  items: readonly Item[],
  rules: Rules,
  sees: ReadonlySet<MediaKind>,
): HiddenMediaByPart {
  const fates = new Map<number, Map<number, HiddenMedia>>()
  const all = shotsIn(items)
  if (all.length === 0) return fates
  const hide = ({ at, place, medium }: Shot, why: HiddenMedia['why']): void => {
    const known = fates.get(at) ?? new Map<number, HiddenMedia>()
    fates.set(at, known.set(place, { medium, why }))
  }
  const shots = all.filter((shot) => sees.has(shot.medium.kind))
  const isRepeated = rules.repeated === 'last' ? repeatedIn(shots) : new Set<Shot>()
  const isHidden = hiddenBy(items, shots, isRepeated, rules)
  for (const shot of all) {
    if (!sees.has(shot.medium.kind)) hide(shot, 'media-unseen')
    else if (!shot.isWhole) {
      const why = isHidden(shot) ?? (isRepeated.has(shot) ? 'media-repeated' : null)
      if (why !== null) hide(shot, why)
    }
  }
  return fates
}

/** One medium in one place. */
interface Shot {
  readonly at: number
  readonly place: number
  readonly medium: PartMedia
  readonly zone: WeighedMedia['zone']
  /** It stands in what is always sent whole. */
  readonly isWhole: boolean
  /** It always does. */
  readonly isFixed: boolean
  /** The same for what was said at once: the messages of one question, or one item. */
  readonly unit: number
}

function shotsIn(items: readonly Item[]): readonly Shot[] {
  const shots: Shot[] = []
  const head = countHeadItems(items)
  const start = findRoundStarts(items).at(-1) ?? items.length
  const end = findQuestionEnd(items, start)
  let unit = 0
  // Without iterators: most of a conversation has nothing to show.
  for (let at = 0; at < items.length; at += 1) {
    const item = items[at]
    if (item === undefined) continue
    if (!isUserMessage(item) || !isUserMessage(items[at - 1])) unit = at
    const parts = listContentParts(item)
    for (let place = 0; place < parts.length; place += 1) {
      const part = parts[place]
      const medium = part === undefined ? null : readPartMedia(part)
      if (medium === null) continue
      const zone = at < start ? 'before' : at < end ? 'question' : 'since'
      const isFixed = at < head || isPinned(item)
      const isWhole = isFixed || zone === 'question'
      shots.push({ at, place, medium, zone, isWhole, isFixed, unit })
    }
  }
  return shots
}

/** The images that come again, not counting what is said at once. */
function repeatedIn(shots: readonly Shot[]): ReadonlySet<Shot> {
  const last = createMediaIdentityMap<number>()
  for (const { medium, unit } of shots) last.set(medium.identity, unit)
  return new Set(
    shots.filter(
      ({ medium, unit }) => medium.kind === 'image' && last.get(medium.identity) !== unit,
    ),
  )
}

/** By the limits alone; `null` for what they let be seen. */
function hiddenBy(
  items: readonly Item[],
  shots: readonly Shot[],
  isRepeated: ReadonlySet<Shot>,
  { window, keepTurns, step, outputsStay, imageMessages, images, bytes }: Rules,
): (shot: Shot) => HiddenMedia['why'] | null {
  const weighed = weigh(shots, isRepeated)
  const inWindow = window === null ? null : windowOf(items, window)
  const border = (scale: Scale, limit: number | null): number =>
    limit === null ? 0 : findMediaCutoff(weighed.all[scale], limit)
  const borders = {
    items: border('items', imageMessages),
    images: border('images', images),
    bytes: border('bytes', bytes),
  }
  const paying = keepTurns === null ? 0 : findImageCutoff(items, { keepTurns, step, outputsStay })
  return (shot) => {
    if (inWindow !== null && !inWindow(shot.at)) return 'media-outside-window'
    const at = weighed.of.get(shot)
    if (at === undefined) return null
    if (shot.medium.kind === 'image') {
      if (shot.at < paying) return 'media-too-old'
      if (at.items < borders.items || at.images < borders.images) return 'media-over-limit'
    }
    return at.bytes < borders.bytes ? 'media-over-bytes' : null
  }
}

type Scale = 'items' | 'images' | 'bytes'

interface Scales {
  readonly all: Readonly<Record<Scale, readonly WeighedMedia[]>>
  /** Where each begins. */
  readonly of: ReadonlyMap<Shot, Readonly<Record<Scale, number>>>
}

/** Each on three scales: how many items with images, how many images, how many bytes are before it. */
function weigh(shots: readonly Shot[], isRepeated: ReadonlySet<Shot>): Scales {
  const all = {
    items: [] as WeighedMedia[],
    images: [] as WeighedMedia[],
    bytes: [] as WeighedMedia[],
  }
  const of = new Map<Shot, Record<Scale, number>>()
  let item = -1
  let itemsBefore = -1
  let itemIsCounted = false
  let image = 0
  let byte = 0
  for (const shot of shots) {
    const { medium, zone, at, isFixed } = shot
    // What is pinned takes no room of others, also while it is new: it would give it back. What is shown
    // somewhere else takes none here.
    const isCounted = !isFixed && (zone === 'question' || !isRepeated.has(shot))
    if (medium.kind === 'image') {
      if (at !== item) {
        item = at
        itemsBefore += 1
        itemIsCounted = false
      }
      const weight = isCounted ? 1 : 0
      all.items.push(span(itemsBefore, 1, itemIsCounted ? 0 : weight, zone))
      all.images.push(span(image, 1, weight, zone))
      itemIsCounted ||= isCounted
    }
    all.bytes.push(span(byte, medium.bytes, isCounted ? medium.bytes : 0, zone))
    of.set(shot, { items: Math.max(0, itemsBefore), images: image, bytes: byte })
    if (medium.kind === 'image') image += 1
    byte += medium.bytes
  }
  return { all, of }
}

function span(
  from: number,
  length: number,
  weight: number,
  zone: WeighedMedia['zone'],
): WeighedMedia {
  return { from, to: from + length, weight, zone }
}

/** Whether an item stands among so many of the newest messages, or behind one of them. */
function windowOf(items: readonly Item[], window: number): (at: number) => boolean {
  let messages = 0
  const numbers = items.map((item) => {
    if (isUserMessage(item) || isAssistantMessage(item)) messages += 1
    return Math.max(0, messages - 1)
  })
  const excess = messages - window
  if (excess <= 0) return () => true
  const stride = Math.max(1, Math.ceil(window / 2))
  const cut = Math.ceil(excess / stride) * stride
  return (at) => (numbers[at] ?? 0) >= cut
}

export interface MediaVisibilityOptions {
  readonly rules: Pick<
    MediaRules,
    'window' | 'keepTurns' | 'step' | 'imageMessages' | 'images' | 'repeated' | 'bytes'
  >
  /** Whether outputs of tools are sent as they are; without a word, they are. */
  readonly outputsStay?: boolean
  /** What the model can see, hear or read. */
  readonly sees: ReadonlySet<MediaKind>
  /** Whether it is offered a tool to look at what is not shown. */
  readonly canView: boolean
  /** The whole conversation, if that is more than the list; handles are counted in it. */
  readonly conversation?: readonly Item[]
}
