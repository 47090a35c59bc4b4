/** Measures items in bytes of JSON and in estimated tokens, e.g. `{ bytes: 56, tokens: 14 }`. */
import { measureItemBytes } from '../core/items/serialize-and-measure-item.ts'
import { estimateItemTokensUncached } from '../core/items/item-tokens.ts'
import type { Item, Part } from '../core/item.ts'
import { listContentParts } from '../core/media/media-handles.ts'
import { estimateTokens } from '../core/text/estimate-tokens.ts'

export interface Size {
  readonly bytes: number
  readonly tokens: number
}

export const ZERO_SIZE: Size = { bytes: 0, tokens: 0 }

export function measureItem(item: Item): Size {
  return { bytes: measureItemBytes(item), tokens: estimateItemTokensUncached(item) }
}

/** The items of a request, before and after the transforms. */
export interface ItemLists {
  /** The items before the transforms: history, client request, and earlier tool rounds of the answer. */
  readonly items: readonly Item[]
  readonly sentItems: readonly Item[]
  /** Index in `items` of each sent item; null for an item that a transform inserted. */
  readonly originalPositions: readonly (number | null)[]
}

/** Sizes of the items before the transforms (`original`) and of the items that are sent. */
export interface ItemSizes {
  readonly original: readonly Size[]
  readonly sent: readonly Size[]
}

/** Measures the items of a request. An item that is sent unchanged is measured only once. */
export function measureItems({ items, sentItems, originalPositions }: ItemLists): ItemSizes {
  const original = items.map(measureItem)
  return {
    original,
    sent: sentItems.map((item, index) => {
      const place = originalPositions[index] ?? null
      const known = place === null || items[place] !== item ? undefined : original[place]
      return known ?? measureItem(item)
    }),
  }
}

export function sumSizes(sizes: readonly Size[]): Size {
  return sizes.reduce(addSizes, ZERO_SIZE)
}

export function measureItemMedia(item: Item): Size {
  const media = listContentParts(item).filter(isMediaPart)
  return media.length === 0 ? ZERO_SIZE : measureJson(media)
}

export function addSizes(one: Size, other: Size): Size {
  return { bytes: one.bytes + other.bytes, tokens: one.tokens + other.tokens }
}

export function scaleSize({ bytes, tokens }: Size, factor: Size): Size {
  return { bytes: Math.floor(bytes * factor.bytes), tokens: Math.floor(tokens * factor.tokens) }
}

/**
 * Returns the difference of two sizes, but at least 0: the estimated size of a part can exceed that of the
 * total.
 */
export function subtractSizes(one: Size, other: Size): Size {
  return {
    bytes: Math.max(0, one.bytes - other.bytes),
    tokens: Math.max(0, one.tokens - other.tokens),
  }
}

export function measureJson(value: unknown): Size {
  const text = JSON.stringify(value) as string | undefined
  return { bytes: Buffer.byteLength(text ?? ''), tokens: estimateTokens(value) }
}

function isMediaPart({ type }: Part): boolean {
  return type === 'input_image' || type === 'input_file' || type === 'input_audio'
}
