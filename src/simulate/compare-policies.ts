/**
 * Simulates conversations under several context policies and compares their cost with that of a
 * baseline, e.g. `replay`, which sends each conversation completely.
 */
import type { PolicyCandidate } from './policy-candidates.ts'
import {
  computeTotalCost,
  ZERO_COST_METRICS,
  addCostMetrics,
  type CachePrices,
  type PolicyCostMetrics,
} from './policy-cost-metrics.ts'
import { simulateConversation } from './simulate-conversation.ts'
import type { ConversationScript } from './conversation-script.ts'

export interface PolicyResult {
  readonly name: string
  /** Measurements of all simulated conversations together. */
  readonly metrics: PolicyCostMetrics
  /**
   * Cost of the policy divided by the cost of `PolicyComparison.baseline`, e.g. 0.57; 1 if the
   * baseline costs nothing.
   */
  readonly costRelativeToBaseline: number
  /**
   * True if it is known in which requests the policy moves its cutoff, because this depends only on
   * numbers of items. Only then can unexpected cache misses be counted.
   */
  readonly hasKnownSteps: boolean
  readonly metricsByConversation: readonly PolicyCostMetrics[]
}

export interface PolicyComparison {
  readonly scripts: readonly ConversationScript[]
  readonly candidates: readonly PolicyCandidate[]
  /** The policy whose cost counts as 1; it need not be one of the candidates. */
  readonly baseline: PolicyCandidate
  /**
   * True if the model rejects reasoning when the text before it has changed since it was generated.
   */
  readonly bindsReasoning: boolean
  readonly prices?: CachePrices
}

/**
 * Simulates all conversations under each candidate policy. Calls `onSimulated` after each
 * conversation, e.g. to show progress.
 */
export function comparePolicies(
  { scripts, candidates, baseline, bindsReasoning, prices }: PolicyComparison,
  onSimulated: (candidate: string, script: string) => void = () => {},
): readonly PolicyResult[] {
  const simulateAll = (candidate: PolicyCandidate) =>
    scripts.map((script) => {
      const metrics = simulateConversation(script, candidate, bindsReasoning)
      onSimulated(candidate.name, script.name)
      return metrics
    })
  const baselineMetrics = simulateAll(baseline)
  const baselineCost = computeTotalCost(sum(baselineMetrics), prices)
  return candidates.map((candidate) => {
    const metricsByConversation = candidate === baseline ? baselineMetrics : simulateAll(candidate)
    const metrics = sum(metricsByConversation)
    return {
      name: candidate.name,
      metrics,
      costRelativeToBaseline:
        baselineCost === 0 ? 1 : computeTotalCost(metrics, prices) / baselineCost,
      hasKnownSteps: candidate.computeStepKey !== null,
      metricsByConversation,
    }
  })
}

function sum(parts: readonly PolicyCostMetrics[]): PolicyCostMetrics {
  return parts.reduce(addCostMetrics, ZERO_COST_METRICS)
}
