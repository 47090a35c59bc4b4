/**
 * Estimates the tokens of an item as it is sent, i.e. without its origin and id. The estimate is cached
 * for the item object, because items never change.
 */
import type { Item } from '../item.ts'
import { estimateTokens } from '../text/estimate-tokens.ts'

export function estimateItemTokens(item: Item): number {
  const cached = CACHE.get(item)
  if (cached !== undefined) return cached
  const tokens = estimateItemTokensUncached(item)
  CACHE.set(item, tokens)
  return tokens
}

/** Estimates the tokens of an item that is measured only once, so the estimate is not added to the cache. */
export function estimateItemTokensUncached(item: Item): number {
  const cached = CACHE.get(item)
  if (cached !== undefined) return cached
  const hasNeither = item.id === undefined && item.origin === undefined
  return estimateTokens(hasNeither ? item : { ...item, id: undefined, origin: undefined })
}

const CACHE = new WeakMap<Item, number>()
