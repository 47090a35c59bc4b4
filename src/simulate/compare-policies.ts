/** Simulates conversations under several policies and compares their cost with full replay. */
import type { PolicyCandidate } from './policy-candidates.ts'
import {
  computeTotalCost,
  ZERO_COST_METRICS,
  addCostMetrics,
  type PolicyCostMetrics,
} from './policy-cost-metrics.ts'
import { simulateConversation } from './simulate-conversation.ts'
import type { ConversationScript } from './conversation-script.ts'

export interface PolicyResult {
  readonly name: string
  /** Sums over all conversations. */
  readonly measures: PolicyCostMetrics
  /** Cost relative to full replay, which is 1. */
  readonly ofReplay: number
  /** True if the turns at which the policy moves its cutoff follow from item counts alone. */
  readonly hasKnownSteps: boolean
  readonly byScript: readonly PolicyCostMetrics[]
}

export interface PolicyComparison {
  readonly scripts: readonly ConversationScript[]
  readonly contestants: readonly PolicyCandidate[]
  /** Baseline of the comparison; need not be one of the candidates. */
  readonly replay: PolicyCandidate
  /** True if the model accepts reasoning only after the prefix it was generated with. */
  readonly binds: boolean
}

/** `onSimulated` is called after each conversation. */
export function comparePolicies(
  { scripts, contestants, replay, binds }: PolicyComparison,
  onSimulated: (candidate: string, script: string) => void = () => {},
): readonly PolicyResult[] {
  const simulateAll = (candidate: PolicyCandidate) =>
    scripts.map((script) => {
      const measures = simulateConversation(script, candidate, binds)
      onSimulated(candidate.name, script.name)
      return measures
    })
  const replayMetrics = simulateAll(replay)
  const replayCost = computeTotalCost(sum(replayMetrics))
  return contestants.map((candidate) => {
    const byScript = candidate === replay ? replayMetrics : simulateAll(candidate)
    const measures = sum(byScript)
    const { name, stepOf } = candidate
    const ofReplay = replayCost === 0 ? 1 : computeTotalCost(measures) / replayCost
    return { name, measures, ofReplay, hasKnownSteps: stepOf !== null, byScript }
  })
}

function sum(parts: readonly PolicyCostMetrics[]): PolicyCostMetrics {
  return parts.reduce(addCostMetrics, ZERO_COST_METRICS)
}
