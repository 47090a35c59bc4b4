/** Measurements of all requests of conversations under a policy. Sizes are characters. */
export interface PolicyCostMetrics {
  readonly requests: number
  readonly sent: number
  /** Characters in common with the beginning of the previous request, which the cache has. */
  readonly cached: number
  /** Requests that do not begin with the complete previous request. */
  readonly breaks: number
  /** Breaks at which the policy was not expected to move its cutoff. */
  readonly breaksOutsideSteps: number
  /** Number of reasoning items sent, over all requests … */
  readonly reasoning: number
  /** … of all that existed at the time of each request … */
  readonly reasoningMade: number
  /** … and those sent although their prefix has changed. */
  readonly reasoningInvalid: number
  readonly largest: number
}

export const ZERO_COST_METRICS: PolicyCostMetrics = {
  requests: 0,
  sent: 0,
  cached: 0,
  breaks: 0,
  breaksOutsideSteps: 0,
  reasoning: 0,
  reasoningMade: 0,
  reasoningInvalid: 0,
  largest: 0,
}

export function addCostMetrics(a: PolicyCostMetrics, b: PolicyCostMetrics): PolicyCostMetrics {
  return {
    requests: a.requests + b.requests,
    sent: a.sent + b.sent,
    cached: a.cached + b.cached,
    breaks: a.breaks + b.breaks,
    breaksOutsideSteps: a.breaksOutsideSteps + b.breaksOutsideSteps,
    reasoning: a.reasoning + b.reasoning,
    reasoningMade: a.reasoningMade + b.reasoningMade,
    reasoningInvalid: a.reasoningInvalid + b.reasoningInvalid,
    largest: Math.max(a.largest, b.largest),
  }
}

/** Cached input costs a tenth, as with OpenAI and Anthropic. */
export const CACHED_PRICE = 0.1

/** Returns the cost in characters at full price: 1000 sent with 500 cached cost 550. */
export function computeTotalCost({ sent, cached }: PolicyCostMetrics): number {
  return sent - cached + cached * CACHED_PRICE
}

export function computeRatio(part: number, total: number): number {
  return total === 0 ? 0 : part / total
}
