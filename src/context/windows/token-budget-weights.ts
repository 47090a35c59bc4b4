/**
 * Weighs items in tokens for the token budget: unchanged, shortened (when their round is over) and capped.
 * Each weight depends on the item alone, so it never changes. Images are counted separately, because how
 * many of them are sent does change.
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

/** Prefix sums: at each index the total of all items before it. */
export interface TokenBudgetWeights {
  /** Weights of the items that are always sent. The other sums exclude these items. */
  readonly alwaysSent: Sums
  /** Weights of unchanged items, as in the current round. */
  readonly open: Sums
  /** Weights with shortened outputs, and without reasoning that the policy drops. */
  readonly settled: Sums
  /** Weights with capped outputs. */
  readonly capped: Sums
  /** The number of images. */
  readonly images: Sums
}

type Sums = Float64Array

/** Functions that make items smaller. Each returns the same item if there is nothing to cut. */
export interface ItemReductions {
  readonly shortenOutput: (item: Item) => Item
  readonly capOutput: (item: Item) => Item
  readonly keepsReasoning: boolean
}

export function computeBudgetWeights(
  items: readonly Item[],
  stays: KeepPredicate,
  reductions: ItemReductions,
): TokenBudgetWeights {
  const sums = () => new Float64Array(items.length + 1)
  const weights = {
    alwaysSent: sums(),
    open: sums(),
    settled: sums(),
    capped: sums(),
    images: sums(),
  }
  for (const [index, item] of items.entries()) {
    const weight: ItemWeight = stays(index, item)
      ? { ...NO_WEIGHT, alwaysSent: estimateItemTokens(item) }
      : weighItem(item, reductions)
    for (const kind of WEIGHT_KINDS) {
      weights[kind][index + 1] = (weights[kind][index] ?? 0) + weight[kind]
    }
  }
  return weights
}

/** Returns an upper bound for the list and all of its prefixes, without shortening any output. */
export function estimateMaxTokens(items: readonly Item[]): number {
  let tokens = 0
  for (const item of items) {
    const images = measureImages(item)
    tokens += estimateWithoutImages(item, images) + images.count * IMAGE_TOKENS
  }
  return tokens
}

type ItemWeight = Readonly<Record<keyof TokenBudgetWeights, number>>

const NO_WEIGHT: ItemWeight = { alwaysSent: 0, open: 0, settled: 0, capped: 0, images: 0 }
const WEIGHT_KINDS = ['alwaysSent', 'open', 'settled', 'capped', 'images'] as const

function weighItem(
  item: Item,
  { shortenOutput, capOutput, keepsReasoning }: ItemReductions,
): ItemWeight {
  const images = measureImages(item)
  const isExpiring = item.type === 'reasoning' && !keepsReasoning && !isPinnedByClient(item)
  return {
    alwaysSent: 0,
    open: estimateWithoutImages(item, images),
    settled: isExpiring ? 0 : estimateWithoutImages(shortenOutput(item), images),
    capped: estimateWithoutImages(capOutput(item), images),
    images: images.count,
  }
}

function estimateWithoutImages(item: Item, images: ImageMeasure): number {
  return Math.max(0, estimateItemTokens(item) - images.tokens)
}

interface ImageMeasure {
  readonly count: number
  /** The tokens that the images add to the estimate of their item. */
  readonly tokens: number
}

function measureImages(item: Item): ImageMeasure {
  let count = 0
  let tokens = 0
  for (const part of listContentParts(item)) {
    const images = measurePartImages(part)
    count += images.count
    tokens += images.tokens
  }
  return { count, tokens }
}

function measurePartImages(part: Part): ImageMeasure {
  const isNotice = readNoticeMediaIdentities(part) !== null
  if (isNotice || readPartMedia(part)?.kind === 'image') {
    return { count: isNotice ? 0 : 1, tokens: estimateTokens(part) - NOTICE_TOKENS }
  }
  if (part.type !== 'output_text' || !part.text.includes('](data:image/')) return NO_IMAGES
  const urls = findMarkdownImages(part.text).filter((url) => url.startsWith('data:'))
  const chars = urls.reduce((sum, url) => sum + url.length, 0)
  return { count: urls.length, tokens: Math.floor(chars / 4) - NOTICE_TOKENS * urls.length }
}

const NO_IMAGES: ImageMeasure = { count: 0, tokens: 0 }

/** The approximate length of the notice that replaces a hidden image. */
const NOTICE_TOKENS = 40
