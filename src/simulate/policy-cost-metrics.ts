/** What the requests of conversations under a policy come to. All of it is counted in characters. */
export interface PolicyCostMetrics {
  readonly requests: number
  readonly sent: number
  /** What a cache knew from the request before. */
  readonly cached: number
  /** Requests that the one before is not the beginning of. */
  readonly breaks: number
  /** Those of them where the policy takes no step, told from counts alone. */
  readonly breaksOutsideSteps: number
  /** Pieces of reasoning sent, over all requests, … */
  readonly reasoning: number
  /** … of all that there were by then … */
  readonly reasoningMade: number
  /** … and those that were sent though they can not be read any more. */
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

/** What a cache knows costs a tenth, as OpenAI and Anthropic have it. */
export const CACHED_PRICE = 0.1

/** In characters at the full price. */
export function computeTotalCost({ sent, cached }: PolicyCostMetrics): number {
  return sent - cached + cached * CACHED_PRICE
}

export function computeRatio(part: number, whole: number): number {
  return whole === 0 ? 0 : part / whole
}
