/**
 * Makes a request fit the model's context window, if it may be cut: shortens and drops old items in steps, but
 * never the latest question. `reject-over-window.ts` decides whether a request that is still too long is rejected or
 * sent: the window may be wrong if the operator has not configured it.
 */
import { estimateMaxTokens } from '../../../context/windows/token-budget-weights.ts'
import { estimateTokens } from '../../../core/text/estimate-tokens.ts'
import { encodePlannedRequest } from '../encode-planned-request.ts'
import type { PlanPorts } from '../list-prompt-transforms.ts'
import { planRequest } from '../plan-request.ts'
import type { PreparedRequest } from '../planned-request.ts'
import {
  estimateBodyTokens,
  computeMaxRequestTokens,
  estimateRequestTokens,
  resolveRequestLimit,
  resolveTokenCorrection,
  sumItemTokens,
} from './estimate-tokens-and-window.ts'
import { isOverWindow, rejectOverWindow, type OverflowRule } from './reject-over-window.ts'

/** True if `fitToWindow` would neither cut nor reject the request. */
export function fitsWindow(prepared: PreparedRequest): boolean {
  const overflow = resolveOverflowRule(prepared)
  const limit = resolveCutLimit(prepared, overflow)
  if (limit !== null && estimateRequestTokens(prepared) > limit) return false
  return !isOverWindow(prepared, overflow)
}

export function fitToWindow(prepared: PreparedRequest, ports: PlanPorts): PreparedRequest {
  const overflow = resolveOverflowRule(prepared)
  const limit = resolveCutLimit(prepared, overflow)
  const fitting = limit === null ? prepared : cutToFit(prepared, limit, ports)
  rejectOverWindow(fitting, overflow)
  return fitting
}

/** Returns the maximum tokens of the cut request; null if the rule forbids a cut, or the window is unknown. */
function resolveCutLimit(prepared: PreparedRequest, overflow: OverflowRule): number | null {
  const limit = overflow === 'cut' ? resolveRequestLimit(prepared) : null
  return limit === null ? null : computeMaxRequestTokens(limit, prepared)
}

/** Returns the policy's rule. If that is `auto`, the field `truncation` decides, which only Responses requests have. */
function resolveOverflowRule({ policy, clientRequest }: PreparedRequest): OverflowRule {
  const { overflow } = policy.budget
  if (overflow !== 'auto') return overflow
  const { overflow: requested } = clientRequest
  if (requested === null) return 'send unless hopeless'
  return requested.truncation === 'auto' ? 'cut' : 'refuse'
}

/**
 * Plans the request again with smaller and smaller token budgets, until the encoded request fits. A request that
 * fits is also planned again if the complete conversation exceeds the budget, because rounds that were dropped
 * earlier must stay dropped (`context/windows/plan-token-budget.ts`): otherwise the prompt's prefix would change.
 */
function cutToFit(prepared: PreparedRequest, maxTokens: number, ports: PlanPorts): PreparedRequest {
  const { account, clientRequest, history, prompt } = prepared
  const target = { account, model: prompt.params.model }
  const fits = (request: PreparedRequest) => estimateRequestTokens(request) <= maxTokens
  const ratio = computeEncodingRatio(prepared)
  const budget = computeTokenBudget(prepared, maxTokens, ratio)
  if (fits(prepared) && estimateMaxTokens(prepared.items) <= budget) return prepared
  let cut = prepared
  // A larger factor makes the budget smaller, in case the remaining items encode to more tokens than the average.
  for (const factor of [1, 1.25, 1.5, 2]) {
    const tokenBudget = computeTokenBudget(prepared, maxTokens, ratio * factor)
    const plan = planRequest(target, { clientRequest, history, tokenBudget }, ports)
    // A plan without a cut equals `prepared`, so it need not be encoded again.
    const hasCut = plan.notes.some(({ by }) => by === 'window-room')
    cut = hasCut ? encodePlannedRequest(plan) : prepared
    if (fits(cut)) break
  }
  return cut
}

/**
 * Returns the token budget of the items, counted as by `estimateItemTokens`: the maximum without instructions,
 * tools, the policy's texts and memory layers. Those are rounded up to a multiple of `maxTokens / 64`, so that the
 * budget rarely changes.
 */
function computeTokenBudget(prepared: PreparedRequest, maxTokens: number, ratio: number): number {
  const { history, policy } = prepared
  const notes = estimateTokens(policy.notes.entries.map(({ text }) => text))
  // Counts the memory layers at their token limit, because their actual size changes from turn to turn.
  const layers = history.layers === undefined ? 0 : policy.layers.tokens
  const unit = Math.max(1, Math.floor(maxTokens / 64))
  const fixed = Math.ceil((estimateFixedTokens(prepared) + notes + layers) / unit) * unit
  const corrected = maxTokens / resolveTokenCorrection(prepared)
  return Math.max(1, Math.floor((corrected - fixed) / ratio))
}

/** Returns the ratio of the items' encoded tokens to their estimated tokens, rounded up to eighths: 1.3 → 1.375. */
function computeEncodingRatio(prepared: PreparedRequest): number {
  const tokens = sumItemTokens(prepared.prompt.items)
  const encoded = Math.max(1, estimateBodyTokens(prepared) - estimateFixedTokens(prepared))
  return Math.ceil((encoded / Math.max(1, tokens)) * 8) / 8
}

/** Estimates the tokens of the instructions and tools, which cannot be cut. */
function estimateFixedTokens({ prompt: { params } }: PreparedRequest): number {
  return estimateTokens([params.instructions, params.tools])
}
