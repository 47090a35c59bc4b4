/**
 * Finds the tool outputs, the reasoning and the images of finished rounds that a policy cuts where this saves costs.
 * All are decided together: dropping the reasoning of a round changes the prompt there, so the outputs after it can be
 * shortened at no further cost.
 *
 * The result is the same before and after one of the transforms has cut its part: shortened outputs and hidden images
 * count like the originals.
 */
import type { ContextPolicy } from '../core/context-policy.ts'
import type { Item, Part } from '../core/item.ts'
import { findRoundWhenOld } from '../core/items/count-old-rounds.ts'
import { findRoundStarts, isPinnedByClient } from '../core/items/rounds-and-pinned-items.ts'
import { readPartMedia } from '../core/media/content-part-media.ts'
import { listContentParts } from '../core/media/media-handles.ts'
import { countHiddenMedia } from '../core/text/gateway-notice.ts'
import { createSinglePinPredicate } from './always-sent-items.ts'
import { countItemChars, IMAGE_CHARS, NOTICE_CHARS } from './cost/count-item-chars.ts'
import { findAffordableCuts } from './cost/find-affordable-cuts.ts'
import {
  countItemCharsBeforeShortening,
  createOutputShortener,
  readOutputLengths,
} from './tool-outputs/shorten-output.ts'

/** Each list has the value 1 at the index of an item that is cut. */
export interface CutsByCost {
  /** The items whose images are hidden. */
  readonly images: Uint8Array
  /** The outputs that are shortened, and the reasoning that is dropped. */
  readonly texts: Uint8Array
}

/** A part of an item that is cut or stays: all its images, or the rest of it. */
interface ItemPart {
  readonly index: number
  readonly kind: keyof CutsByCost
  readonly completeChars: number
  readonly cutChars: number
  readonly cuttableSince: number | null
}

export type CutFinder = (items: readonly Item[]) => CutsByCost

/** Returns a function that finds the cuts in a list of items. */
export function createCutFinder(
  policy: Pick<ContextPolicy, 'outputs' | 'reasoning' | 'media' | 'cuts'>,
  maxCostRatio: number,
): CutFinder {
  return (items) => {
    const parts = listItemParts(items, policy)
    const isCut = findAffordableCuts(
      parts.map(({ index }) => items[index] as Item),
      {
        completeChars: parts.map(({ completeChars }) => completeChars),
        cutChars: parts.map(({ cutChars }) => cutChars),
        cuttableSince: parts.map(({ cuttableSince }) => cuttableSince),
        maxCostRatio,
        minChars: policy.cuts.minChars,
      },
    )
    const cuts = { images: new Uint8Array(items.length), texts: new Uint8Array(items.length) }
    for (const [place, { index, kind }] of parts.entries()) cuts[kind][index] = isCut[place] ?? 0
    return cuts
  }
}

function listItemParts(
  items: readonly Item[],
  { outputs, reasoning, media }: Pick<ContextPolicy, 'outputs' | 'reasoning' | 'media'>,
): readonly ItemPart[] {
  const starts = findRoundStarts(items)
  const shorten =
    outputs.keepTurns === null ? null : createOutputShortener(readOutputLengths(outputs))
  const showsImages = media.keepTurns === null ? null : createSinglePinPredicate(items)
  const parts: ItemPart[] = []
  let round = -1
  const findWhenOld = (keepTurns: number | null, step: number) =>
    keepTurns === null ? null : findRoundWhenOld(Math.max(0, round), keepTurns, step)
  for (const [index, item] of items.entries()) {
    if (starts[round + 1] === index) round += 1
    let completeChars = countItemCharsBeforeShortening(item)
    const images = showsImages === null || showsImages(index, item) ? 0 : countImages(item)
    if (images > 0) {
      const imageChars = images * IMAGE_CHARS
      completeChars -= imageChars
      parts.push({
        index,
        kind: 'images',
        completeChars: imageChars,
        cutChars: NOTICE_CHARS,
        cuttableSince: findWhenOld(media.keepTurns, media.step),
      })
    }
    const part = { index, kind: 'texts', completeChars } as const
    if (item.type === 'reasoning') {
      // With `next_reply`, reasoning is dropped whatever it costs, so no decision may depend on it.
      if (reasoning.keep === 'next_reply') continue
      const expires = reasoning.keep === 'open_turn' && !isPinnedByClient(item)
      const cuttableSince = expires ? round + 1 : null
      parts.push({ ...part, cutChars: 0, cuttableSince })
      continue
    }
    const shortChars =
      shorten === null ? completeChars : countItemChars(shorten(item)) - images * IMAGE_CHARS
    const cuttableSince =
      shortChars < completeChars ? findWhenOld(outputs.keepTurns, outputs.step) : null
    parts.push({ ...part, cutChars: shortChars, cuttableSince })
  }
  return parts
}

function countImages(item: Item): number {
  let images = 0
  for (const part of listContentParts(item)) images += countPartImages(part)
  return images
}

function countPartImages(part: Part): number {
  return readPartMedia(part)?.kind === 'image' ? 1 : countHiddenMedia(part, 'image')
}
