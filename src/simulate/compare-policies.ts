/** Plays conversations under one policy after the other, and says what each costs beside full replay. */
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
  /** Of all conversations together. */
  readonly measures: PolicyCostMetrics
  /** What it costs, with full replay at 1. */
  readonly ofReplay: number
  /** Whether it can be told from counts alone where it takes a step. */
  readonly hasKnownSteps: boolean
  readonly byScript: readonly PolicyCostMetrics[]
}

export interface PolicyComparison {
  readonly scripts: readonly ConversationScript[]
  readonly contestants: readonly PolicyCandidate[]
  /** What they are measured by, whether it is among them or not. */
  readonly replay: PolicyCandidate
  /** Whether the model holds its reasoning to its prefix. */
  readonly binds: boolean
}

/** `onPlayed` is told after each conversation. */
export function comparePolicies(
  { scripts, contestants, replay, binds }: PolicyComparison,
  onPlayed: (contestant: string, script: string) => void = () => {},
): readonly PolicyResult[] {
  const playAll = (contestant: PolicyCandidate) =>
    scripts.map((script) => {
      const measures = simulateConversation(script, contestant, binds)
      onPlayed(contestant.name, script.name)
      return measures
    })
  const replayed = playAll(replay)
  const whole = computeTotalCost(sum(replayed))
  return contestants.map((contestant) => {
    const byScript = contestant === replay ? replayed : playAll(contestant)
    const measures = sum(byScript)
    const { name, stepOf } = contestant
    const ofReplay = whole === 0 ? 1 : computeTotalCost(measures) / whole
    return { name, measures, ofReplay, hasKnownSteps: stepOf !== null, byScript }
  })
}

function sum(parts: readonly PolicyCostMetrics[]): PolicyCostMetrics {
  return parts.reduce(addCostMetrics, ZERO_COST_METRICS)
}
