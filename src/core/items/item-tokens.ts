/**
 * How many tokens an item is worth, by estimate, as it would be sent: without what is kept of it
 * beside the conversation. An item never changes, and while it is remembered, so is its number.
 */
import type { Item } from '../item.ts'
import { estimateTokens } from '../text/estimate-tokens.ts'

export function estimateItemTokens(item: Item): number {
  const known = KNOWN.get(item)
  if (known !== undefined) return known
  const tokens = estimated(item)
  KNOWN.set(item, tokens)
  return tokens
}

/** The same for who asks once, and has nothing remembered for it. */
export function estimateItemTokensUncached(item: Item): number {
  return KNOWN.get(item) ?? estimated(item)
}

function estimated(item: Item): number {
  const isBare = item.id === undefined && item.origin === undefined
  return estimateTokens(isBare ? item : { ...item, id: undefined, origin: undefined })
}

const KNOWN = new WeakMap<Item, number>()
