/**
 * Converts the results of a simulation to the numbers that `--json` prints. The table in the README
 * is generated from them, too.
 */
import type { PolicyResult } from './compare-policies.ts'
import {
  computeTotalCost,
  DEFAULT_PRICES,
  type CachePrices,
  type PolicyCostMetrics,
} from './policy-cost-metrics.ts'

export interface SimulationNumbers {
  readonly prices: CachePrices
  /** A sentence that explains the unit and the assumptions of the numbers. */
  readonly basis: string
  readonly conversations: number
  readonly policies: readonly PolicyNumbers[]
}

export interface PolicyNumbers extends CostNumbers {
  readonly policy: string
  /**
   * Cost of the policy divided by the cost of `replay` (the baseline in all uses of these numbers),
   * e.g. 0.57.
   */
  readonly of_replay: number
  readonly by_conversation: readonly CostNumbers[]
}

/**
 * The measurements of `PolicyCostMetrics` under the names that `--json` prints. Sizes are in
 * characters.
 */
export interface CostNumbers {
  readonly requests: number
  readonly sent: number
  readonly cached: number
  readonly cost: number
  readonly breaks: number
  /**
   * Number of requests in which the policy changed what it had sent before, although it did not
   * move its cutoff. `null` if item counts alone do not show when the policy moves it.
   */
  readonly breaks_outside_steps: number | null
  readonly reasoning_sent: number
  /**
   * Number of reasoning items that were sent, divided by the number that the conversation had at
   * each request; from 0 to 1.
   */
  readonly reasoning_kept: number
  readonly reasoning_invalid: number
  readonly largest: number
}

export function convertResultsToNumbers(
  results: readonly PolicyResult[],
  bindsReasoning: boolean,
  prices: CachePrices = DEFAULT_PRICES,
): SimulationNumbers {
  return {
    prices,
    basis: `Sizes are characters of requests in the Responses API. Input that is in the cache since the previous request costs ${prices.cached}, all other input ${prices.written}. The model accepts its reasoning ${bindsReasoning ? 'only if nothing before it has changed' : 'whatever comes before it'}.`,
    conversations: results[0]?.metricsByConversation.length ?? 0,
    policies: results.map((result) => ({
      policy: result.name,
      of_replay: roundShare(result.costRelativeToBaseline),
      ...toNumbers(result.metrics, result.hasKnownSteps, prices),
      by_conversation: result.metricsByConversation.map((metrics) =>
        toNumbers(metrics, result.hasKnownSteps, prices),
      ),
    })),
  }
}

function toNumbers(
  metrics: PolicyCostMetrics,
  hasKnownSteps: boolean,
  prices: CachePrices,
): CostNumbers {
  const { sentReasoning, existingReasoning } = metrics
  return {
    requests: metrics.requests,
    sent: metrics.sentChars,
    cached: metrics.cachedChars,
    cost: Math.round(computeTotalCost(metrics, prices)),
    breaks: metrics.prefixBreaks,
    breaks_outside_steps: hasKnownSteps ? metrics.unexpectedBreaks : null,
    reasoning_sent: sentReasoning,
    reasoning_kept: roundShare(existingReasoning === 0 ? 0 : sentReasoning / existingReasoning),
    reasoning_invalid: metrics.invalidReasoning,
    largest: metrics.largestRequestChars,
  }
}

function roundShare(share: number): number {
  return Math.round(share * 10_000) / 10_000
}
