/**
 * Finds the cutoff before which old images are hidden, if hiding them saves money. Every `step` rounds, counted from
 * the first, the cutoff either stays, or moves forward so that only the latest `keepTurns` rounds before the current
 * one keep their images.
 *
 * Hiding images costs once, because the provider must read all items after the first of them without its cache. In each
 * later request it saves the cached price of the images. The cutoff moves if hiding pays off within a quarter as many
 * further requests as there are rounds before (after 20 rounds: within 5 requests). It rarely does if long texts follow
 * the images.
 *
 * Each check uses only items that already existed at that round, so later requests repeat its result. Images that are
 * already replaced by notices are counted as images, so that hiding them does not change the result of earlier checks.
 * Reasoning does not count as text to be read again, because the provider often ignores it after a change of the
 * prompt.
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
  /** The number of rounds before the current one that keep their images even if hiding them would save costs. */
  readonly keepTurns: number
  readonly step: number
  /**
   * True if the policy sends old tool outputs in full. Their text then adds to the cost of hiding an image before them.
   * Otherwise old outputs are short and are not counted.
   */
  readonly sendsFullOutputs: boolean
}

/**
 * Returns the cutoff: the index before which images are hidden, except images of leading instructions and pinned items.
 * 0 if no image is hidden.
 */
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

/**
 * Returns how many images of each item the cutoff may hide or has hidden already, by the index of the item. Items
 * without such images are left out.
 */
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

/**
 * Estimates the tokens of the texts in a message or output. Notices about hidden media are not counted, so that hiding
 * an image does not change the estimate.
 */
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
