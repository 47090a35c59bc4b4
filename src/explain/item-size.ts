/** How large an item is as it is kept, and what of it are media. */
import { itemBytes } from '../core/items/serialize-item.ts'
import { itemTokensOnce } from '../core/items/item-tokens.ts'
import { isToolOutput, type Item, type Part } from '../core/item.ts'
import { estimateTokens } from '../core/text/estimate-tokens.ts'

export interface Weight {
  readonly bytes: number
  readonly tokens: number
}

export const NO_WEIGHT: Weight = { bytes: 0, tokens: 0 }

export function weightOf(item: Item): Weight {
  return { bytes: itemBytes(item), tokens: itemTokensOnce(item) }
}

/** Of all that there is, and of what of it is sent. Nothing is weighed twice. */
export interface Weights {
  readonly given: readonly Weight[]
  readonly sent: readonly Weight[]
}

export function weightsOf({ items, sent, places }: Weighed): Weights {
  const given = items.map(weightOf)
  return {
    given,
    sent: sent.map((item, at) => {
      const place = places[at] ?? null
      const known = place === null || items[place] !== item ? undefined : given[place]
      return known ?? weightOf(item)
    }),
  }
}

interface Weighed {
  readonly items: readonly Item[]
  readonly sent: readonly Item[]
  readonly places: readonly (number | null)[]
}

export function sumOf(weights: readonly Weight[]): Weight {
  let [bytes, tokens] = [0, 0]
  for (const weight of weights) {
    bytes += weight.bytes
    tokens += weight.tokens
  }
  return { bytes, tokens }
}

export function mediaWeightOf(item: Item): Weight {
  const parts = partsOf(item)
  if (!parts.some(isMedium)) return NO_WEIGHT
  return weightOfJson(parts.filter(isMedium))
}

export function plus(one: Weight, other: Weight): Weight {
  return { bytes: one.bytes + other.bytes, tokens: one.tokens + other.tokens }
}

export function times({ bytes, tokens }: Weight, factor: Weight): Weight {
  return { bytes: Math.floor(bytes * factor.bytes), tokens: Math.floor(tokens * factor.tokens) }
}

/** Never less than nothing: what is estimated need not add up. */
export function minus(one: Weight, other: Weight): Weight {
  return {
    bytes: Math.max(0, one.bytes - other.bytes),
    tokens: Math.max(0, one.tokens - other.tokens),
  }
}

export function weightOfJson(value: unknown): Weight {
  const text = JSON.stringify(value) as string | undefined
  return { bytes: Buffer.byteLength(text ?? ''), tokens: estimateTokens(value) }
}

function partsOf(item: Item): readonly Part[] {
  if (item.type === 'message') return item.content
  return isToolOutput(item) && typeof item.output !== 'string' ? item.output : []
}

function isMedium({ type }: Part): boolean {
  return type === 'input_image' || type === 'input_file' || type === 'input_audio'
}
