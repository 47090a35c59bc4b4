/**
 * Measurements of a policy in all requests of the simulated conversations: sums, and the size of
 * the largest request. Sizes are in characters.
 */
export interface PolicyCostMetrics {
  readonly requests: number
  readonly sentChars: number
  /**
   * Number of sent characters that the provider reads from its cache, because the previous request
   * has the same characters at its start.
   */
  readonly cachedChars: number
  /** Number of requests that do not begin with the complete previous request. */
  readonly prefixBreaks: number
  /**
   * Number of those prefix breaks that occur although the policy was not expected to move its
   * cutoff.
   */
  readonly unexpectedBreaks: number
  /** Number of reasoning items that were sent, summed over all requests. */
  readonly sentReasoning: number
  /**
   * Number of reasoning items in the conversation at the time of each request, sent or not, summed
   * over all requests.
   */
  readonly existingReasoning: number
  /**
   * Number of reasoning items that were sent although the model rejects them, because the text
   * before them has changed. Summed over all requests.
   */
  readonly invalidReasoning: number
  readonly largestRequestChars: number
}

export const ZERO_COST_METRICS: PolicyCostMetrics = {
  requests: 0,
  sentChars: 0,
  cachedChars: 0,
  prefixBreaks: 0,
  unexpectedBreaks: 0,
  sentReasoning: 0,
  existingReasoning: 0,
  invalidReasoning: 0,
  largestRequestChars: 0,
}

export function addCostMetrics(a: PolicyCostMetrics, b: PolicyCostMetrics): PolicyCostMetrics {
  return {
    requests: a.requests + b.requests,
    sentChars: a.sentChars + b.sentChars,
    cachedChars: a.cachedChars + b.cachedChars,
    prefixBreaks: a.prefixBreaks + b.prefixBreaks,
    unexpectedBreaks: a.unexpectedBreaks + b.unexpectedBreaks,
    sentReasoning: a.sentReasoning + b.sentReasoning,
    existingReasoning: a.existingReasoning + b.existingReasoning,
    invalidReasoning: a.invalidReasoning + b.invalidReasoning,
    largestRequestChars: Math.max(a.largestRequestChars, b.largestRequestChars),
  }
}

/** Prices of input. The unit is the price of input without a cache. */
export interface CachePrices {
  /** Price of new input, which the provider also writes to its cache: 1, or 1.25 with Anthropic. */
  readonly written: number
  /** Price of input that the provider reads from its cache, e.g. 0.1. */
  readonly cached: number
}

export const DEFAULT_PRICES: CachePrices = { written: 1, cached: 0.1 }

/**
 * Returns the cost of the sent characters, with a character at the usual price as the unit: 1000 sent
 * characters, of which 500 are cached, cost 550 with the default prices.
 */
export function computeTotalCost(
  { sentChars, cachedChars }: Pick<PolicyCostMetrics, 'sentChars' | 'cachedChars'>,
  { written, cached }: CachePrices = DEFAULT_PRICES,
): number {
  return (sentChars - cachedChars) * written + cachedChars * cached
}
