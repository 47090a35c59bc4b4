/**
 * What the items of a conversation take up of a model's room: as they were said, when their turn is
 * over, and where there is no other way. Each is told from the item alone, so that it never changes;
 * images are told apart, because how many of them are shown does.
 */
import { readNoticeMediaIdentities } from '../../core/text/gateway-notice.ts'
import type { Item, Part } from '../../core/item.ts'
import { estimateItemTokens } from '../../core/items/item-tokens.ts'
import { findMarkdownImages } from '../../core/media/find-markdown-images.ts'
import { listContentParts } from '../../core/media/media-handles.ts'
import { readPartMedia } from '../../core/media/content-part-media.ts'
import { isPinnedByClient } from '../../core/items/rounds-and-pinned-items.ts'
import { estimateTokens, IMAGE_TOKENS } from '../../core/text/estimate-tokens.ts'
import type { KeepPredicate } from '../find-undroppable-items.ts'

/** All in front of each place of a list, and, at the last one, everything. */
export interface TokenBudgetWeights {
  /** What is sent in any case. */
  readonly stays: Sums
  /** As it was said. */
  readonly open: Sums
  /** With what is left of outputs and of reasoning when their turn is over. */
  readonly settled: Sums
  /** With outputs cut hard. */
  readonly hard: Sums
  readonly images: Sums
}

type Sums = Float64Array

/** What becomes of an item. */
export interface ItemReductions {
  readonly shortened: (item: Item) => Item
  readonly capped: (item: Item) => Item
  readonly keepsReasoning: boolean
}

export function computeBudgetWeights(
  items: readonly Item[],
  stays: KeepPredicate,
  fates: ItemReductions,
): TokenBudgetWeights {
  const sums = () => new Float64Array(items.length + 1)
  const weights = { stays: sums(), open: sums(), settled: sums(), hard: sums(), images: sums() }
  const add = (to: Sums, at: number, weight: number) => void (to[at + 1] = (to[at] ?? 0) + weight)
  for (const [at, item] of items.entries()) {
    const isAlways = stays(at, item)
    const { open, settled, hard, images } = isAlways ? NOTHING : weightOf(item, fates)
    add(weights.stays, at, isAlways ? estimateItemTokens(item) : 0)
    add(weights.open, at, open)
    add(weights.settled, at, settled)
    add(weights.hard, at, hard)
    add(weights.images, at, images)
  }
  return weights
}

/** No beginning of a list comes to more. Nothing has to be shortened to know it. */
export function estimateMaxTokens(items: readonly Item[]): number {
  let tokens = 0
  for (const item of items) {
    const pictures = picturesIn(item)
    tokens += bareTokens(item, pictures) + pictures.count * IMAGE_TOKENS
  }
  return tokens
}

const NOTHING = { open: 0, settled: 0, hard: 0, images: 0 }

function weightOf(
  item: Item,
  { shortened, capped, keepsReasoning }: ItemReductions,
): typeof NOTHING {
  const pictures = picturesIn(item)
  const open = bareTokens(item, pictures)
  const isDisconnected = item.type === 'reasoning' && !keepsReasoning && !isPinnedByClient(item)
  const settled = isDisconnected ? 0 : bareTokens(shortened(item), pictures)
  return { open, settled, hard: bareTokens(capped(item), pictures), images: pictures.count }
}

function bareTokens(item: Item, pictures: Pictures): number {
  return Math.max(0, estimateItemTokens(item) - pictures.tokens)
}

interface Pictures {
  readonly count: number
  /** What they add to the tokens of their item. */
  readonly tokens: number
}

function picturesIn(item: Item): Pictures {
  let count = 0
  let tokens = 0
  for (const part of listContentParts(item)) {
    const { shown, worth } = picturesOf(part)
    count += shown
    tokens += worth
  }
  return { count, tokens }
}

function picturesOf(part: Part): { readonly shown: number; readonly worth: number } {
  if (readNoticeMediaIdentities(part) !== null)
    return { shown: 0, worth: estimateTokens(part) - NOTICE }
  if (readPartMedia(part)?.kind === 'image')
    return { shown: 1, worth: estimateTokens(part) - NOTICE }
  if (part.type !== 'output_text' || !part.text.includes('](data:image/')) return NONE_OF_THEM
  const written = findMarkdownImages(part.text).filter((url) => url.startsWith('data:'))
  const chars = written.reduce((all, url) => all + url.length, 0)
  return { shown: written.length, worth: Math.floor(chars / 4) - NOTICE * written.length }
}

const NONE_OF_THEM = { shown: 0, worth: 0 }

/** About what is said in the place of one that is not shown. */
const NOTICE = 40
