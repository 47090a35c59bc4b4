/** The media transform with each kind of limit, and an independent computation of its steps. */
import type { Item } from '../../../src/core/item.ts'
import { listContentParts } from '../../../src/core/media/media-handles.ts'
import {
  MEDIA_KINDS,
  readPartMedia,
  type PartMedia,
} from '../../../src/core/media/content-part-media.ts'
import { PRESETS, type MediaRules } from '../../../src/core/context-policy.ts'
import {
  countItemsBeforeFirstRound,
  isAssistantMessage,
  isKeptInEveryWindow,
  isUserMessage,
  findQuestionEnd,
  findRoundStarts,
} from '../../../src/core/items/rounds-and-pinned-items.ts'
import { replaceHiddenMedia } from '../../../src/context/media/replace-hidden-media.ts'
import type { Subject } from './subjects.ts'

export function media(overrides: Partial<MediaRules>): Subject {
  const rules = { ...PRESETS.replay.media, ...overrides }
  return {
    name: `media ${JSON.stringify(overrides)}`,
    transform: replaceHiddenMedia({
      rules: { ...rules, view: true },
      acceptedMediaKinds: new Set(MEDIA_KINDS),
    }),
    epoch: (items) => mediaEpoch(items, rules),
  }
}

export function mediaEpoch(items: readonly Item[], rules: MediaRules): string {
  const shots = locateMedia(items)
  const images = shots.filter(({ kind }) => kind === 'image')
  const repeats = rules.repeated === 'last' ? images.filter((shot) => isRepeated(shot, images)) : []
  const counted = (shot: LocatedMedia) =>
    !shot.isPinned && (shot.zone === 1 || !repeats.includes(shot))
  const places = [...new Set(images.map(({ at }) => at))]
  const byItem = places.map((at) => images.filter((image) => image.at === at))
  return [
    repeats.filter(({ zone }) => zone !== 1).length,
    messageStep(items, rules.window),
    step(byItem.map(toOne(counted)), rules.imageMessages, items),
    step(
      images.map((image) => toOne(counted)([image])),
      rules.images,
      items,
    ),
    rules.keepTurns === null
      ? 0
      : Math.floor(Math.max(0, findRoundStarts(items).length - 1 - rules.keepTurns) / rules.step),
    // With a limit of bytes, each medium may be a step.
    rules.bytes === null ? 0 : shots.length,
    rules.bytes === null ? 0 : findRoundStarts(items).length,
  ].join()
}

interface LocatedMedia extends PartMedia {
  readonly at: number
  readonly unit: number
  /** Before the latest question, in it, or after it. */
  readonly zone: 0 | 1 | 2
  readonly isPinned: boolean
}

function locateMedia(items: readonly Item[]): readonly LocatedMedia[] {
  const start = findRoundStarts(items).at(-1) ?? items.length
  const end = findQuestionEnd(items, start)
  const head = countItemsBeforeFirstRound(items)
  return items.flatMap((item, at) =>
    listContentParts(item).flatMap((part) => {
      const medium = readPartMedia(part)
      if (medium === null) return []
      let unit = at
      while (isUserMessage(items[unit]) && isUserMessage(items[unit - 1])) unit -= 1
      const zone = at < start ? 0 : at < end ? 1 : 2
      return {
        ...medium,
        at,
        unit,
        zone,
        isPinned: at < head || isKeptInEveryWindow(item),
      } as const
    }),
  )
}

function isRepeated(shot: LocatedMedia, all: readonly LocatedMedia[]): boolean {
  return all.some(({ identity, unit }) => identity === shot.identity && unit > shot.unit)
}

interface Entry {
  readonly weight: 0 | 1
  readonly zone: LocatedMedia['zone']
}

function toOne(counted: (shot: LocatedMedia) => boolean) {
  return (shots: readonly LocatedMedia[]): Entry => ({
    weight: shots.some(counted) ? 1 : 0,
    zone: shots[0]?.zone ?? 0,
  })
}

/** The first cutoff that leaves at most the limit. If the latest round alone exceeds it, each new image is a step. */
function step(entries: readonly Entry[], limit: number | null, items: readonly Item[]): string {
  if (limit === null) return ''
  const stride = Math.max(1, Math.ceil(limit / 2))
  const left = (border: number) => entries.slice(border).filter(({ weight }) => weight === 1).length
  let border = 0
  while (left(border) > limit) border += stride
  const older = entries.filter(({ zone }) => zone === 0).length
  return border <= older ? String(border) : `${findRoundStarts(items).length}/${entries.length}`
}

function messageStep(items: readonly Item[], window: number | null): string {
  if (window === null) return ''
  const countOf = (list: readonly Item[]) =>
    list.filter((item) => isUserMessage(item) || isAssistantMessage(item)).length
  const stride = Math.max(1, Math.ceil(window / 2))
  const border = Math.max(0, Math.ceil((countOf(items) - window) / stride)) * stride
  const starts = findRoundStarts(items)
  const older = countOf(items.slice(0, starts.at(-1)))
  return border <= older ? String(border) : `${starts.length}/${border}`
}
