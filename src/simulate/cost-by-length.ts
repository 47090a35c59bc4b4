/**
 * Computes the cost of a policy relative to full replay at each length of a conversation: the cost of all requests up
 * to each turn, divided by that of full replay.
 */
import type { ConversationScript } from './conversation-script.ts'
import { isUserMessage } from '../core/items/rounds-and-pinned-items.ts'
import type { PolicyCandidate } from './policy-candidates.ts'
import {
  addCostMetrics,
  computeTotalCost,
  ZERO_COST_METRICS,
  type CachePrices,
} from './policy-cost-metrics.ts'
import { simulateRequests } from './simulate-conversation.ts'

export interface LengthComparison {
  readonly script: ConversationScript
  readonly candidate: PolicyCandidate
  readonly baseline: PolicyCandidate
  readonly bindsReasoning: boolean
  readonly prices: CachePrices
}

/** Returns the relative cost after each turn, e.g. `[1, 0.98]` for two turns. */
export function computeCostByLength(comparison: LengthComparison): readonly number[] {
  const { script, candidate, baseline, bindsReasoning, prices } = comparison
  const accumulate = (policy: PolicyCandidate): readonly number[] => {
    let sum = ZERO_COST_METRICS
    return simulateRequests(script, policy, bindsReasoning).map((request) => {
      sum = addCostMetrics(sum, request)
      return computeTotalCost(sum, prices)
    })
  }
  const [costs, baselineCosts] = [accumulate(candidate), accumulate(baseline)]
  return script.exchanges.flatMap((_, index) => {
    const next = script.exchanges[index + 1]
    const endsTurn = next === undefined || next.newItems.some(isUserMessage)
    return endsTurn ? [(costs[index] ?? 0) / (baselineCosts[index] ?? 1)] : []
  })
}
