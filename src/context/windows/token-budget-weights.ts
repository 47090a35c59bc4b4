/**
 * Weighs each item in tokens for the token budget, in three forms: unchanged, shortened (when its round is over) and
 * capped. The weights depend on the item alone, so they never change. Images are counted separately, because the number
 * of images that are sent changes as the conversation grows.
 */
import { readNoticeMediaIdentities } from '../../core/text/gateway-notice.ts'
import type { Item, Part } from '../../core/item.ts'
import { estimateItemTokens } from '../../core/items/item-tokens.ts'
import { findMarkdownImages } from '../../core/media/find-markdown-images.ts'
import { listContentParts } from '../../core/media/media-handles.ts'
import { readPartMedia } from '../../core/media/content-part-media.ts'
import { isPinnedByClient } from '../../core/items/rounds-and-pinned-items.ts'
import { estimateTextTokens } from '../../core/text/estimate-text-tokens.ts'
import { estimateTokens, IMAGE_TOKENS } from '../../core/text/estimate-tokens.ts'
import type { KeepPredicate } from '../always-sent-items.ts'
import { computePrefixSums, type PrefixSums } from './item-weights.ts'

/** For each index the total weight of all items before it, in tokens. */
export interface TokenBudgetWeights {
  /** Weights of the items that are always sent. The other sums do not include these items. */
  readonly alwaysSent: PrefixSums
  /** Weights of items that are sent unchanged, e.g. those of the current round. */
  readonly unchanged: PrefixSums
  /** Weights in finished rounds: outputs are shortened, and reasoning that the policy drops weighs 0. */
  readonly shortened: PrefixSums
  /** Weights with capped outputs, for a round that alone exceeds the token budget. */
  readonly capped: PrefixSums
  /** Number of images. The weights above do not include their tokens. */
  readonly images: PrefixSums
}

/** The ways in which a policy makes items smaller. The functions return the same item if it is short enough. */
export interface ItemReductions {
  readonly shortenOutput: (item: Item) => Item
  readonly capOutput: (item: Item) => Item
  /** False if the policy drops the reasoning of finished rounds. */
  readonly keepsReasoning: boolean
}

export function computeBudgetWeights(
  items: readonly Item[],
  stays: KeepPredicate,
  reductions: ItemReductions,
): TokenBudgetWeights {
  const weights = items.map((item, index) =>
    stays(index, item)
      ? { alwaysSent: estimateItemTokens(item), unchanged: 0, shortened: 0, capped: 0, images: 0 }
      : weighItem(item, reductions),
  )
  const sum = (kind: keyof TokenBudgetWeights) =>
    computePrefixSums(weights.map((weight) => weight[kind]))
  return {
    alwaysSent: sum('alwaysSent'),
    unchanged: sum('unchanged'),
    shortened: sum('shortened'),
    capped: sum('capped'),
    images: sum('images'),
  }
}

/**
 * Returns an upper bound for the tokens of the list and of each of its prefixes. If it is within the budget, no plan is
 * needed. Fast, because it shortens no output.
 */
export function estimateMaxTokens(items: readonly Item[]): number {
  let tokens = 0
  for (const item of items) {
    const images = measureImages(item)
    tokens += estimateWithoutImages(item, images) + images.count * IMAGE_TOKENS
  }
  return tokens
}

function weighItem(item: Item, { shortenOutput, capOutput, keepsReasoning }: ItemReductions) {
  const images = measureImages(item)
  const isExpiring = item.type === 'reasoning' && !keepsReasoning && !isPinnedByClient(item)
  return {
    alwaysSent: 0,
    unchanged: estimateWithoutImages(item, images),
    shortened: isExpiring ? 0 : estimateWithoutImages(shortenOutput(item), images),
    capped: estimateWithoutImages(capOutput(item), images),
    images: images.count,
  }
}

function estimateWithoutImages(item: Item, images: ImageMeasure): number {
  return Math.max(0, estimateItemTokens(item) - images.tokens)
}

interface ImageMeasure {
  readonly count: number
  /**
   * Tokens to subtract from the estimate of the item, so that each of its images or image notices counts as
   * `NOTICE_TOKENS`.
   */
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
  const tokens = urls.reduce((sum, url) => sum + estimateTextTokens(url), 0)
  return { count: urls.length, tokens: Math.floor(tokens) - NOTICE_TOKENS * urls.length }
}

const NO_IMAGES: ImageMeasure = { count: 0, tokens: 0 }

/** Approximate number of tokens of the notice that replaces a hidden image. */
const NOTICE_TOKENS = 40
