/**
 * Shortens and drops items so that a conversation fits the context window of its model, as planned by
 * `plan-token-budget.ts`. This transform runs before media are hidden, old outputs are shortened and reasoning is
 * dropped, because these steps give other results with every round. After them, the cut would move with every round,
 * and the provider's cache would be lost.
 */
import type { ContextPolicy } from '../../core/context-policy.ts'
import { editItems } from '../edit-items.ts'
import { createAlwaysSentGroupPredicate } from '../always-sent-items.ts'
import { createOutputCapper } from '../tool-outputs/cap-outputs.ts'
import { createOutputShortener, readOutputLengths } from '../tool-outputs/shorten-output.ts'
import type { Transform } from '../transform-interface.ts'
import { planTokenBudget, type TokenBudgetOptions } from './plan-token-budget.ts'
import { estimateMaxTokens } from './token-budget-weights.ts'

export interface TokenBudgetFitOptions {
  /** The maximum number of tokens of all items that are sent. At least 1. */
  readonly maxTokens: number
  readonly policy: Pick<ContextPolicy, 'outputs' | 'reasoning' | 'media'>
  readonly acceptsImages?: boolean
}

export function fitTokenBudget(fit: TokenBudgetFitOptions): Transform {
  const options = createTokenBudgetOptions(fit)
  return {
    name: 'window-room',
    prefixChanges: 'permanent',
    run(items) {
      if (estimateMaxTokens(items) <= options.maxTokens) return { items, notes: [] }
      const stays = createAlwaysSentGroupPredicate(items)
      const plan = planTokenBudget(items, stays, options)
      return editItems(items, (item, index) => {
        if (stays(index, item)) return null
        if (index < plan.dropBefore) return { replacement: null, why: 'over-window' }
        if (plan.isCapped[index] === 1)
          return { replacement: options.capOutput(item), why: 'output-capped' }
        if (index >= plan.shortenBefore) return null
        if (item.type === 'reasoning' && !options.keepsReasoning)
          return { replacement: null, why: 'reasoning-expired' }
        return { replacement: options.shortenOutput(item), why: 'output-too-old' }
      })
    },
  }
}

/**
 * Returns the options of `planTokenBudget` for a policy. If a round exceeds the budget by itself, its outputs are
 * capped to 500 characters.
 */
export function createTokenBudgetOptions({
  maxTokens,
  policy,
  acceptsImages = true,
}: TokenBudgetFitOptions): TokenBudgetOptions {
  return {
    maxTokens,
    shortenOutput: createOutputShortener(readOutputLengths(policy.outputs)),
    capOutput: createOutputCapper({ maxChars: 500, offersExpandTool: false }),
    keepsReasoning: policy.reasoning.keep !== 'open_turn',
    maxImages: acceptsImages ? (policy.media.images ?? Infinity) : 0,
  }
}
