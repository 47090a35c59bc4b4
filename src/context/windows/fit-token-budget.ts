/**
 * Makes a conversation fit the context window of its model, as planned by `plan-token-budget.ts`. Runs
 * with the other windows: before media are hidden, outputs are shortened and reasoning is dropped, because
 * the results of these change as the conversation grows.
 */
import type { ContextPolicy } from '../../core/context-policy.ts'
import { editItems } from '../edit-items.ts'
import { createAlwaysSentGroupPredicate } from '../find-undroppable-items.ts'
import { createOutputCapper } from '../tool-outputs/cap-outputs.ts'
import { createOutputShortener, readOutputLengths } from '../tool-outputs/shorten-output.ts'
import type { Transform } from '../transform-interface.ts'
import { planTokenBudget, type TokenBudgetOptions } from './plan-token-budget.ts'
import { estimateMaxTokens } from './token-budget-weights.ts'

export interface TokenBudgetFitOptions {
  /** The maximum total weight of the items, in tokens. At least 1. */
  readonly maxTokens: number
  readonly policy: Pick<ContextPolicy, 'outputs' | 'reasoning' | 'media'>
  readonly seesImages?: boolean
}

export function fitTokenBudget(fit: TokenBudgetFitOptions): Transform {
  const options = createTokenBudgetOptions(fit)
  return {
    name: 'window-room',
    prefixStability: 'lasting',
    run(items) {
      if (estimateMaxTokens(items) <= options.maxTokens) return { items, notes: [] }
      const stays = createAlwaysSentGroupPredicate(items)
      const plan = planTokenBudget(items, stays, options)
      return editItems(items, (item, index) => {
        if (stays(index, item)) return null
        if (index < plan.dropBefore) return { item: null, why: 'over-window' }
        if (plan.capped[index] === 1) return { item: options.capOutput(item), why: 'output-capped' }
        if (index >= plan.shortenBefore) return null
        return { item: options.shortenOutput(item), why: 'output-too-old' }
      })
    },
  }
}

/**
 * Returns the planner's options: capped outputs have at most 500 characters. Policies count rounds as turns:
 * `keepTurns` is a number of rounds.
 */
export function createTokenBudgetOptions({
  maxTokens,
  policy,
  seesImages = true,
}: TokenBudgetFitOptions): TokenBudgetOptions {
  const { keepTurns, step } = policy.outputs
  return {
    maxTokens,
    keepTurns,
    step,
    shortenOutput: createOutputShortener(readOutputLengths(policy.outputs)),
    capOutput: createOutputCapper({ maxChars: 500, expand: false }),
    keepsReasoning: policy.reasoning.keep !== 'open_turn',
    images: seesImages ? (policy.media.images ?? Infinity) : 0,
  }
}
