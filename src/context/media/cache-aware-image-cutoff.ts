/**
 * From where on images are shown, if older ones go only where that pays. The border is looked at every
 * `step` turns, counted from the first, and then moves up to the turns that keep their images, or not at
 * all. To take images away costs once, for all behind the first of them has to be read anew, and spares
 * what a cache takes for them with every request to come. It is done where it has paid for itself before
 * the conversation is a quarter longer; between long texts it never is.
 *
 * What was decided is told from what stood there then, which is still the beginning of the list, so it is
 * decided in the same way ever after. An image that has gone, for this or for any other reason, counts as it
 * did when it was there. Reasoning is not counted: behind a change it is often not read at all.
 */
import { countHiddenMedia, readNoticeMediaIdentities } from '../../core/text/gateway-notice.ts'
import type { Item, Part } from '../../core/item.ts'
import { listContentParts } from '../../core/media/media-handles.ts'
import { readPartMedia } from '../../core/media/content-part-media.ts'
import {
  countHeadItems,
  isPinned,
  findRoundStarts,
} from '../../core/items/rounds-and-pinned-items.ts'
import { estimateTokens, IMAGE_TOKENS } from '../../core/text/estimate-tokens.ts'
import { computePrefixSums, weightBetween } from '../windows/item-weights.ts'

export interface ImageCutoffOptions {
  /** So many turns before the newest one keep their images. */
  readonly keepTurns: number
  readonly step: number
  /** Whether outputs of tools stay as they are; if they are shortened, they are not counted. */
  readonly outputsStay: boolean
}

/** Images in front of this place go, but for those that always stay. */
export function findImageCutoff(
  items: readonly Item[],
  { keepTurns, step, outputsStay }: ImageCutoffOptions,
): number {
  const starts = findRoundStarts(items)
  if (starts.length <= keepTurns + step) return 0
  const imagesAt = imagesThatGo(items)
  if (imagesAt.size === 0) return 0
  const images = computePrefixSums(items.map((_, at) => (imagesAt.get(at) ?? 0) * IMAGE_TOKENS))
  const words = computePrefixSums(items.map((item) => wordsOf(item, outputsStay)))
  let border = 0
  for (let turn = keepTurns + step; turn < starts.length; turn += step) {
    const [to = 0, now = 0] = [starts[turn - keepTurns], starts[turn]]
    const spared = weightBetween(images, border, to)
    if (spared === 0) continue
    const first = [...imagesAt.keys()].find((at) => at >= border) ?? to
    const anew = weightBetween(words, first, now) + weightBetween(images, to, now)
    if (spared * CACHED_PRICE * turn * PAID_BACK_IN >= anew * (1 - CACHED_PRICE)) border = to
  }
  return border
}

/** How many can go or have gone, by the place of their item. */
function imagesThatGo(items: readonly Item[]): ReadonlyMap<number, number> {
  const images = new Map<number, number>()
  const head = countHeadItems(items)
  for (const [at, item] of items.entries()) {
    if (at < head || isPinned(item)) continue
    const count = listContentParts(item).reduce((sum, part) => sum + imagesOf(part), 0)
    if (count > 0) images.set(at, count)
  }
  return images
}

function imagesOf(part: Part): number {
  return readPartMedia(part)?.kind === 'image' ? 1 : countHiddenMedia(part, 'image')
}

/** What a cache knows costs a tenth, as most providers have it. */
const CACHED_PRICE = 0.1
/** As many requests as this part of the turns there have been. */
const PAID_BACK_IN = 0.25

function wordsOf(item: Item, outputsStay: boolean): number {
  switch (item.type) {
    case 'message':
      return wordsIn(item.content)
    case 'function_call':
      return estimateTokens(item.arguments)
    case 'custom_tool_call':
      return estimateTokens(item.input)
    case 'function_call_output':
    case 'custom_tool_call_output':
      return outputsStay ? wordsIn(item.output) : 0
    case 'reasoning':
    case 'opaque':
      return 0
  }
}

/** Without notices, of which there are more once images have gone. */
function wordsIn(content: string | readonly Part[]): number {
  if (typeof content === 'string') return estimateTokens(content)
  return content.reduce(
    (sum, part) =>
      'text' in part && readNoticeMediaIdentities(part) === null
        ? sum + estimateTokens(part.text)
        : sum,
    0,
  )
}
