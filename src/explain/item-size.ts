/** Measures items and media in bytes of JSON and in estimated tokens, e.g. `{ bytes: 56, tokens: 14 }`. */
import { measureItemBytes } from '../core/items/serialize-item.ts'
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

/** Sizes of all items, and of those that are sent. An item that is sent unchanged is measured once. */
export interface ItemSizes {
  readonly given: readonly Size[]
  readonly sent: readonly Size[]
}

export function measureItems({ items, sent, places }: ItemLists): ItemSizes {
  const given = items.map(measureItem)
  return {
    given,
    sent: sent.map((item, index) => {
      const place = places[index] ?? null
      const known = place === null || items[place] !== item ? undefined : given[place]
      return known ?? measureItem(item)
    }),
  }
}

interface ItemLists {
  readonly items: readonly Item[]
  readonly sent: readonly Item[]
  readonly places: readonly (number | null)[]
}

export function sumSizes(weights: readonly Size[]): Size {
  let [bytes, tokens] = [0, 0]
  for (const weight of weights) {
    bytes += weight.bytes
    tokens += weight.tokens
  }
  return { bytes, tokens }
}

export function measureMedia(item: Item): Size {
  const media = listContentParts(item).filter(isMedium)
  return media.length === 0 ? ZERO_SIZE : measureJson(media)
}

export function addSizes(one: Size, other: Size): Size {
  return { bytes: one.bytes + other.bytes, tokens: one.tokens + other.tokens }
}

export function scaleSize({ bytes, tokens }: Size, factor: Size): Size {
  return { bytes: Math.floor(bytes * factor.bytes), tokens: Math.floor(tokens * factor.tokens) }
}

/** Subtracts sizes; never below 0, because a part's estimate can be higher than the total's. */
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

function isMedium({ type }: Part): boolean {
  return type === 'input_image' || type === 'input_file' || type === 'input_audio'
}
