/**
 * Finds the index before which old images are hidden, if that saves money (the cutoff). Every `step` rounds, counted
 * from the first, the cutoff either stays, or moves forward so that only the latest `keepTurns` rounds before the
 * current one keep their images.
 *
 * Hiding an image costs once, because the provider must read all items after it without its cache. In each later
 * request it saves the cached price of the image. The cutoff moves if the savings reach the costs before the
 * conversation has grown by a quarter. They rarely do if long texts follow the images.
 *
 * Each check uses only items that already existed at that round, so later requests repeat its result. A notice
 * counts like the image that it replaced. Reasoning does not count as text to be read again, because the provider
 * often ignores it after a change of the prompt.
 */
import { countHiddenMedia, readNoticeMediaIdentities } from '../../core/text/gateway-notice.ts'
import type { Item, Part } from '../../core/item.ts'
import { listContentParts } from '../../core/media/media-handles.ts'
import { readPartMedia } from '../../core/media/content-part-media.ts'
import { findRoundStarts } from '../../core/items/rounds-and-pinned-items.ts'
import { estimateTokens, IMAGE_TOKENS } from '../../core/text/estimate-tokens.ts'
import { createSinglePinPredicate } from '../always-sent-items.ts'
import { computePrefixSums, weightBetween } from '../windows/item-weights.ts'

export interface ImageCutoffOptions {
  /** The number of rounds before the current one that keep their images. */
  readonly keepTurns: number
  readonly step: number
  /** True if old tool outputs are sent in full. Otherwise outputs are short, so they are not counted as text. */
  readonly sendsFullOutputs: boolean
}

/** Returns the index before which images are hidden, except images of leading instructions and pinned items. */
export function findCacheAwareImageCutoff(
  items: readonly Item[],
  { keepTurns, step, sendsFullOutputs }: ImageCutoffOptions,
): number {
  const starts = findRoundStarts(items)
  if (starts.length <= keepTurns + step) return 0
  const counts = countHideableImages(items)
  if (counts.size === 0) return 0
  const imageTokens = computePrefixSums(
    items.map((_, index) => (counts.get(index) ?? 0) * IMAGE_TOKENS),
  )
  const textTokens = computePrefixSums(
    items.map((item) => estimateItemText(item, sendsFullOutputs)),
  )
  let cutoff = 0
  for (let round = keepTurns + step; round < starts.length; round += step) {
    const [to = 0, now = 0] = [starts[round - keepTurns], starts[round]]
    const saved = weightBetween(imageTokens, cutoff, to)
    if (saved === 0) continue
    const first = [...counts.keys()].find((index) => index >= cutoff) ?? to
    const reread = weightBetween(textTokens, first, now) + weightBetween(imageTokens, to, now)
    const requests = round * PAYBACK_SHARE
    if (saved * CACHED_PRICE * requests >= reread * (1 - CACHED_PRICE)) cutoff = to
  }
  return cutoff
}

/** Returns for each item, by its index, how many of its images can be hidden or are hidden already. */
function countHideableImages(items: readonly Item[]): ReadonlyMap<number, number> {
  const counts = new Map<number, number>()
  const stays = createSinglePinPredicate(items)
  for (const [index, item] of items.entries()) {
    if (stays(index, item)) continue
    const count = listContentParts(item).reduce((sum, part) => sum + countImages(part), 0)
    if (count > 0) counts.set(index, count)
  }
  return counts
}

function countImages(part: Part): number {
  return readPartMedia(part)?.kind === 'image' ? 1 : countHiddenMedia(part, 'image')
}

/** The price of a cached token relative to an uncached token, at most providers. */
const CACHED_PRICE = 0.1
/** Hiding must pay off within 0.25 requests per earlier round, e.g. within 5 requests after 20 rounds. */
const PAYBACK_SHARE = 0.25

function estimateItemText(item: Item, sendsFullOutputs: boolean): number {
  switch (item.type) {
    case 'message':
      return estimateContent(item.content)
    case 'function_call':
      return estimateTokens(item.arguments)
    case 'custom_tool_call':
      return estimateTokens(item.input)
    case 'function_call_output':
    case 'custom_tool_call_output':
      return sendsFullOutputs ? estimateContent(item.output) : 0
    case 'reasoning':
    case 'opaque':
      return 0
  }
}

/** Estimates the tokens of the text. Omits media notices, so that hiding an image does not change the estimate. */
function estimateContent(content: string | readonly Part[]): number {
  if (typeof content === 'string') return estimateTokens(content)
  return content.reduce(
    (sum, part) =>
      'text' in part && readNoticeMediaIdentities(part) === null
        ? sum + estimateTokens(part.text)
        : sum,
    0,
  )
}
