/**
 * Makes a request fit the model's window, if it may be cut: old items are shortened and left out in steps,
 * the latest question never. A request that still does not fit is rejected if the operator has configured
 * the window (`reject-over-window.ts`); otherwise the upstream decides.
 */
import { sumWeights } from '../../../context/windows/item-weights.ts'
import { estimateMaxTokens } from '../../../context/windows/token-budget-weights.ts'
import { estimateItemTokens } from '../../../core/items/item-tokens.ts'
import { estimateTokens } from '../../../core/text/estimate-tokens.ts'
import { encodePlannedRequest } from '../encode-planned-request.ts'
import { planRequest } from '../plan-request.ts'
import type { PreparedRequest, PlannedRequest } from '../planned-request.ts'
import {
  estimateBodyTokens,
  computeConversationBudget,
  estimateRequestTokens,
  resolveContextWindow,
  resolveTokenCorrection,
} from './estimate-tokens-and-window.ts'
import { isOverWindow, rejectOverWindow, type OverflowRule } from './reject-over-window.ts'
import type { Ports } from '../../dependencies-interface.ts'

/** True if `fitToWindow` would neither cut nor reject the request. */
export function fitsWindow(prepared: PreparedRequest): boolean {
  const overflow = resolveOverflowRule(prepared)
  const window = overflow === 'send' ? null : resolveContextWindow(prepared)
  if (window === null) return true
  if (
    overflow === 'cut' &&
    estimateRequestTokens(prepared) > computeConversationBudget(window, prepared)
  )
    return false
  return !isOverWindow(prepared, overflow)
}

export function fitToWindow(
  prepared: PreparedRequest,
  ports: Ports<'memoryLayers' | 'settings'>,
): PreparedRequest {
  const overflow = resolveOverflowRule(prepared)
  const window = overflow === 'send' ? null : resolveContextWindow(prepared)
  if (window === null) return prepared
  const fitting =
    overflow === 'cut'
      ? cutToFit(prepared, computeConversationBudget(window, prepared), ports)
      : prepared
  rejectOverWindow(fitting, overflow)
  return fitting
}

/** Returns the rule of the policy, else that of the request's `truncation`, which Chat Completions does not have. */
function resolveOverflowRule({ policy, clientRequest }: PreparedRequest): OverflowRule {
  const { overflow } = policy.budget
  if (overflow !== 'auto') return overflow
  const { overflow: requested } = clientRequest
  if (requested === null) return 'send unless hopeless'
  return requested.truncation === 'auto' ? 'cut' : 'refuse'
}

/**
 * Plans again with a limit for the items, until the estimate of the encoded request fits. A request that fits
 * is planned again as well if an earlier one of the conversation did not: a turn that was left out once
 * stays left out (`context/windows/plan-token-budget.ts`), so that the prompt's prefix stays the same.
 */
function cutToFit(
  prepared: PreparedRequest,
  maxTokens: number,
  ports: Ports<'memoryLayers' | 'settings'>,
): PreparedRequest {
  const { account, clientRequest, history, prompt } = prepared
  const target = { account, model: prompt.params.model }
  const fits = (request: PreparedRequest) => estimateRequestTokens(request) <= maxTokens
  const ratio = computeEncodingRatio(prepared)
  const budget = computeTokenBudget(prepared, maxTokens, ratio)
  if (fits(prepared) && estimateMaxTokens(prepared.items) <= budget) return prepared
  let cut = prepared
  // The remaining items may encode to more tokens than the average of all items.
  for (const factor of [1, 1.25, 1.5, 2]) {
    const tokenBudget = computeTokenBudget(prepared, maxTokens, ratio * factor)
    const plan = planRequest(target, { clientRequest, history, tokenBudget }, ports)
    // A plan that drops nothing equals `prepared`, and is not encoded again.
    cut = hasCut(plan) ? encodePlannedRequest(plan) : prepared
    if (fits(cut)) break
  }
  return cut
}

function hasCut({ notes }: PlannedRequest): boolean {
  return notes.some(({ by }) => by === 'window-room')
}

/**
 * Returns the max weight of the items in tokens, as `estimateItemTokens` weighs them. The parts that are not
 * items are rounded up to a 64th of `maxTokens`, so that the limit, and with it the cut, rarely changes.
 */
function computeTokenBudget(prepared: PreparedRequest, maxTokens: number, ratio: number): number {
  const { history, policy } = prepared
  const notes = estimateTokens(policy.notes.entries.map(({ text }) => text))
  // Reserves the layers' token limit, not their current size, which changes between turns.
  const layers = history.layers === undefined ? 0 : policy.layers.tokens
  const unit = Math.max(1, Math.floor(maxTokens / 64))
  const fixed = Math.ceil((estimateFixedTokens(prepared) + notes + layers) / unit) * unit
  const corrected = maxTokens / resolveTokenCorrection(prepared)
  return Math.max(1, Math.floor((corrected - fixed) / ratio))
}

/** Returns encoded tokens per token of item weight, rounded up to eighths: 1.3 → 1.375. */
function computeEncodingRatio(prepared: PreparedRequest): number {
  const weight = sumWeights(prepared.prompt.items.map(estimateItemTokens))
  const encoded = Math.max(1, estimateBodyTokens(prepared) - estimateFixedTokens(prepared))
  return Math.ceil((encoded / Math.max(1, weight)) * 8) / 8
}

/** Estimates instructions and tools, which cannot be cut. */
function estimateFixedTokens({ prompt: { params } }: PreparedRequest): number {
  return estimateTokens([params.instructions, params.tools])
}
