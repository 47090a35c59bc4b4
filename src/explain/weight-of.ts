/** How large an item is as it is kept, and what of it are media. Asked once for each item. */
import { itemTokens } from '../conversation/item-tokens.ts'
import type { Item, Part } from '../conversation/item.ts'
import { estimateTokens } from '../conversation/tokens.ts'

export interface Weight {
  readonly bytes: number
  readonly tokens: number
}

export const NO_WEIGHT: Weight = { bytes: 0, tokens: 0 }

export function weightOf(item: Item): Weight {
  const known = WEIGHTS.get(item)
  if (known !== undefined) return known
  const { origin: _origin, ...said } = item
  const weight = { bytes: bytesOf(JSON.stringify(said)), tokens: itemTokens(item) }
  WEIGHTS.set(item, weight)
  return weight
}

const WEIGHTS = new WeakMap<Item, Weight>()

export function mediaWeightOf(item: Item): Weight {
  const media = partsOf(item).filter(isMedium)
  if (media.length === 0) return NO_WEIGHT
  return { bytes: bytesOf(JSON.stringify(media)), tokens: estimateTokens(media) }
}

export function plus(one: Weight, other: Weight): Weight {
  return { bytes: one.bytes + other.bytes, tokens: one.tokens + other.tokens }
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
  return { bytes: bytesOf(text ?? ''), tokens: estimateTokens(value) }
}

function partsOf(item: Item): readonly Part[] {
  if (item.type === 'message') return item.content
  const isOutput = item.type === 'function_call_output' || item.type === 'custom_tool_call_output'
  return isOutput && typeof item.output !== 'string' ? item.output : []
}

function isMedium({ type }: Part): boolean {
  return type === 'input_image' || type === 'input_file' || type === 'input_audio'
}

function bytesOf(text: string): number {
  // Written into one place again and again, for there are many and most of them are short.
  return text.length * 3 <= PLACE.length
    ? encoder.encodeInto(text, PLACE).written
    : encoder.encode(text).length
}

const encoder = new TextEncoder()
const PLACE = new Uint8Array(65_536)
