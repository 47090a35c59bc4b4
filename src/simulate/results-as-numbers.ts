/** Converts the results to the numbers that `--json` prints and from which the README is generated. */
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
  /** Cost relative to full replay, e.g. 0.57. */
  readonly of_replay: number
  readonly by_conversation: readonly CostNumbers[]
}

/** Sizes are characters, summed over all conversations. */
export interface CostNumbers {
  readonly requests: number
  readonly sent: number
  readonly cached: number
  readonly cost: number
  readonly breaks: number
  /** Null if the policy's steps do not follow from item counts. */
  readonly breaks_outside_steps: number | null
  readonly reasoning_sent: number
  /** Share of all reasoning that existed. */
  readonly reasoning_kept: number
  readonly reasoning_invalid: number
  readonly largest: number
}

export function convertResultsToNumbers(
  results: readonly PolicyResult[],
  binds: boolean,
): SimulationNumbers {
  return {
    basis: `Sizes are characters of what the Responses wire sends; what a cache knows from the request before costs ${CACHED_PRICE}; the model reads its reasoning behind ${binds ? 'the prefix only that it was made behind' : 'any prefix'}.`,
    conversations: results[0]?.byScript.length ?? 0,
    policies: results.map(({ name, measures, ofReplay, hasKnownSteps, byScript }) => ({
      policy: name,
      of_replay: roundShare(ofReplay),
      ...toNumbers(measures, hasKnownSteps),
      by_conversation: byScript.map((entry) => toNumbers(entry, hasKnownSteps)),
    })),
  }
}

function toNumbers(measures: PolicyCostMetrics, hasKnownSteps: boolean): CostNumbers {
  const { requests, sent, cached, breaks, reasoning, reasoningMade, largest } = measures
  return {
    requests,
    sent,
    cached,
    cost: Math.round(computeTotalCost(measures)),
    breaks,
    breaks_outside_steps: hasKnownSteps ? measures.breaksOutsideSteps : null,
    reasoning_sent: reasoning,
    reasoning_kept: roundShare(computeRatio(reasoning, reasoningMade)),
    reasoning_invalid: measures.reasoningInvalid,
    largest,
  }
}

function roundShare(share: number): number {
  return Math.round(share * 10_000) / 10_000
}
