/** The standings as numbers for a machine: what `--json` prints, and what the README is written from. */
import type { PolicyResult } from './compare-policies.ts'
import {
  CACHED_PRICE,
  computeTotalCost,
  computeRatio,
  type PolicyCostMetrics,
} from './policy-cost-metrics.ts'

export interface SimulationNumbers {
  readonly basis: string
  readonly conversations: number
  readonly policies: readonly PolicyNumbers[]
}

export interface PolicyNumbers extends CostNumbers {
  readonly policy: string
  /** What it costs, with full replay at 1. */
  readonly of_replay: number
  readonly by_conversation: readonly CostNumbers[]
}

/** Sizes are characters, of all conversations together. */
export interface CostNumbers {
  readonly requests: number
  readonly sent: number
  readonly cached: number
  readonly cost: number
  readonly breaks: number
  /** `null` where nobody can tell a step from counts alone. */
  readonly breaks_outside_steps: number | null
  readonly reasoning_sent: number
  /** The share of all that there was to be sent. */
  readonly reasoning_kept: number
  readonly reasoning_invalid: number
  readonly largest: number
}

export function convertResultsToNumbers(
  standings: readonly PolicyResult[],
  binds: boolean,
): SimulationNumbers {
  return {
    basis: `Sizes are characters of what the Responses wire sends; what a cache knows from the request before costs ${CACHED_PRICE}; the model reads its reasoning behind ${binds ? 'the prefix only that it was made behind' : 'any prefix'}.`,
    conversations: standings[0]?.byScript.length ?? 0,
    policies: standings.map(({ name, measures, ofReplay, hasKnownSteps, byScript }) => ({
      policy: name,
      of_replay: rounded(ofReplay),
      ...shown(measures, hasKnownSteps),
      by_conversation: byScript.map((each) => shown(each, hasKnownSteps)),
    })),
  }
}

function shown(measures: PolicyCostMetrics, hasKnownSteps: boolean): CostNumbers {
  const { requests, sent, cached, breaks, reasoning, reasoningMade, largest } = measures
  return {
    requests,
    sent,
    cached,
    cost: Math.round(computeTotalCost(measures)),
    breaks,
    breaks_outside_steps: hasKnownSteps ? measures.breaksOutsideSteps : null,
    reasoning_sent: reasoning,
    reasoning_kept: rounded(computeRatio(reasoning, reasoningMade)),
    reasoning_invalid: measures.reasoningInvalid,
    largest,
  }
}

function rounded(share: number): number {
  return Math.round(share * 10_000) / 10_000
}
