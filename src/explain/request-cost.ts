/**
 * Estimates the cost of the input of a request, and of the same request with full replay. Each token is either new to
 * the provider or read from the provider's cache; some providers also charge for writing new tokens to their cache.
 * Costs are in units of the price of one input token without a cache.
 */
import type { JsonObject } from '../core/json/json.ts'
import type { ExplanationSummary } from './build-explanation.ts'
import { MIN_CACHED_TOKENS, type CachePrediction } from './cache-miss/predict-cache-hit.ts'

interface InputPrices extends JsonObject {
  readonly new: number
  readonly written: number
  readonly cached: number
}

interface InputCost extends JsonObject {
  readonly new_tokens: number
  /** The part of the new tokens that the provider writes to its cache. */
  readonly written_tokens: number
  readonly cached_tokens: number
  readonly cost: number
}

export interface RequestCost extends JsonObject {
  readonly prices: InputPrices
  readonly sent: InputCost
  readonly full_replay: InputCost
}

/**
 * Returns the estimated cost; `null` if the previous request is unknown (`undefined`), because it determines how much
 * is cached. With full replay, the provider would have cached the complete previous request, unless the client has
 * changed its beginning or the request goes to another upstream.
 */
export function estimateRequestCost(
  summary: ExplanationSummary,
  cache: CachePrediction,
  previous: ExplanationSummary | null | undefined,
): RequestCost | null {
  if (previous === undefined) return null
  const prices = PRICES_BY_WIRE[summary.upstream.wire] ?? DEFAULT_PRICES
  const cached = cache.predicted_cached_tokens
  const replayTokens = readTokens(summary.fullReplay)
  const previousTokens = previous === null ? 0 : readTokens(previous.fullReplay)
  const keepsPrefix = cache.cause.who === 'nobody' || cache.cause.who === 'gateway'
  const replayCached = keepsPrefix ? Math.min(previousTokens, replayTokens) : cached
  return {
    prices,
    sent: estimateInputCost(summary.sent.estimated_tokens, cached, prices),
    full_replay: estimateInputCost(replayTokens, replayCached, prices),
  }
}

/**
 * OpenAI, Gemini and most servers write to their cache without a charge. Prices of cached input vary: newer models
 * charge a tenth.
 */
const DEFAULT_PRICES: InputPrices = { new: 1, written: 1, cached: 0.1 }

const PRICES_BY_WIRE: Readonly<Record<string, InputPrices>> = {
  anthropic: { new: 1, written: 1.25, cached: 0.1 },
}

function estimateInputCost(tokens: number, cached: number, prices: InputPrices): InputCost {
  const cachedTokens = cached < MIN_CACHED_TOKENS ? 0 : Math.min(cached, tokens)
  const newTokens = tokens - cachedTokens
  const writtenTokens = tokens < MIN_CACHED_TOKENS ? 0 : newTokens
  const cost =
    (newTokens - writtenTokens) * prices.new +
    writtenTokens * prices.written +
    cachedTokens * prices.cached
  return {
    new_tokens: newTokens,
    written_tokens: writtenTokens,
    cached_tokens: cachedTokens,
    cost: Math.round(cost),
  }
}

function readTokens({ estimated_tokens: tokens }: JsonObject): number {
  return typeof tokens === 'number' ? tokens : 0
}
