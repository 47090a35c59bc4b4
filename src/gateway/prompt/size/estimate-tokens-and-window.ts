/**
 * Estimates the tokens of a request, and resolves how many its model accepts. The estimate for the encoded
 * body is corrected by a factor: the ratio of reported to estimated tokens in the parent turn.
 */
import type { ContextPolicy } from '../../../core/context-policy.ts'
import { isObject, type Json, type JsonObject } from '../../../core/json/json.ts'
import type { TokenUsage } from '../../../core/stream-event.ts'
import { estimateTokens } from '../../../core/text/estimate-tokens.ts'
import type { Account } from '../../../providers/provider-interface.ts'
import { matchesModelPattern } from '../../../upstream/accounts-and-model-routing.ts'
import { findKnownInputLimit, type InputLimit } from '../../../upstream/model-input-limits.ts'
import type { PreparedRequest, PlannedRequest } from '../planned-request.ts'
import type { Item } from '../../../core/item.ts'
import { estimateItemTokens } from '../../../core/items/item-tokens.ts'

/** Estimates the tokens of the complete request: instructions, tools and items. */
export function estimateRequestTokens(prepared: PreparedRequest): number {
  return applyTokenCorrection(estimateBodyTokens(prepared), resolveTokenCorrection(prepared))
}

export function applyTokenCorrection(estimate: number, correction: number): number {
  return Math.ceil(estimate * correction)
}

/** Returns the correction factor. All estimates of a request use the same factor, so that parts add up to the total. */
export function resolveTokenCorrection({ history }: Pick<PlannedRequest, 'history'>): number {
  return computeTokenCorrection(history.parent?.usage ?? null)
}

/** Estimates the tokens of the encoded body without correction, and caches the result. */
export function estimateBodyTokens(prepared: PreparedRequest): number {
  const { body } = prepared.encoded
  const cached = ESTIMATES.get(body)
  if (cached !== undefined) return cached
  const tokens = estimateTokens(body)
  ESTIMATES.set(body, tokens)
  return tokens
}

const ESTIMATES = new WeakMap<object, number>()

/** True if the body's estimate is cached. */
export function hasBodyEstimate({ encoded }: PreparedRequest): boolean {
  return ESTIMATES.has(encoded.body)
}

/**
 * Returns the ratio of reported to estimated tokens of a turn, rounded up to one of a few values (1.1 → 1.25).
 * An exact ratio would change in each turn, and with it the item at which the conversation is cut. An implausible
 * ratio (below 0.2, above 2.5) counts as 1: some servers always report their complete window as used.
 */
export function computeTokenCorrection(usage: TokenUsage | null): number {
  const { inputTokens = 0, estimatedInputTokens: estimated = 0 } = usage ?? {}
  const ratio = estimated === 0 ? 1 : inputTokens / estimated
  if (ratio < MIN_PLAUSIBLE_RATIO || ratio > MAX_PLAUSIBLE_RATIO) return 1
  return CORRECTIONS.find((correction) => ratio <= correction) ?? 1
}

const MIN_PLAUSIBLE_RATIO = 0.2
const MAX_PLAUSIBLE_RATIO = 2.5
const CORRECTIONS = [0.75, 1, 1.25, 1.6, 2, MAX_PLAUSIBLE_RATIO]

/** Returns the input limit of the request's model; null if it is unknown. */
export function resolveRequestLimit({
  account,
  prompt,
  policy,
}: PlannedRequest): InputLimit | null {
  return resolveInputLimit(account, prompt.params.model, policy)
}

/**
 * Returns the maximum tokens of a request to the model: the context window from the policy, else from the account, else
 * the limit in the built-in table of models.
 */
export function resolveInputLimit(
  account: Account,
  model: string,
  policy: ContextPolicy,
): InputLimit | null {
  const window = readConfiguredWindow(account, model, policy)
  if (window !== null) return { tokens: window, includesAnswer: true }
  return findKnownInputLimit(model, account.baseUrl)
}

/**
 * Returns the context window that the policy sets, else that of the account's quirk `contextWindow`, which is a
 * number or an object with model patterns (`{"qwen*": 32768}`); null if neither is set.
 */
export function readConfiguredWindow(
  { quirks: { contextWindow } }: Account,
  model: string,
  { budget }: ContextPolicy,
): number | null {
  if (budget.window !== null) return budget.window
  if (!isObject(contextWindow)) return numberOrNull(contextWindow)
  const pattern = Object.keys(contextWindow).find((name) => matchesModelPattern(name, model))
  return pattern === undefined ? null : numberOrNull(contextWindow[pattern])
}

/** Returns the policy field `summaries.above` in tokens. Up to 1 it is a share of the limit: 0.5 of 128,000 → 64,000. */
export function resolveSummaryThreshold(above: number, limit: InputLimit | null): number {
  return above > 1 ? above : above * (limit?.tokens ?? DEFAULT_LIMIT_TOKENS)
}

/** The limit that is assumed for a model whose limit is unknown. */
const DEFAULT_LIMIT_TOKENS = 128_000

export function sumItemTokens(items: readonly Item[]): number {
  return items.reduce((sum, item) => sum + estimateItemTokens(item), 0)
}

function numberOrNull(value: Json | undefined): number | null {
  return typeof value === 'number' && value > 0 ? value : null
}

/**
 * Returns the maximum tokens of the complete request: a limit of the input alone, or the context window less the reserve
 * for the answer. The reserve is the policy field `budget.reserve`, else the request's output limit, else 4096 tokens.
 */
export function computeMaxRequestTokens(
  { tokens: window, includesAnswer }: InputLimit,
  { policy, encoded }: PreparedRequest,
): number {
  if (!includesAnswer) return window
  const { reserve } = policy.budget
  if (reserve !== null && reserve < window) return window - reserve
  const outputLimit = readOutputLimit(encoded.body)
  // Otherwise at most half of the window is reserved, because an output limit may be as large as the window; at
  // most a quarter if neither a reserve nor an output limit is set.
  const maxReserve = Math.floor(window / (reserve === null && outputLimit === null ? 4 : 2))
  return window - Math.min(reserve ?? outputLimit ?? DEFAULT_ANSWER_TOKENS, maxReserve)
}

const DEFAULT_ANSWER_TOKENS = 4096

/** Returns the output limit in an encoded body. The name of the field depends on the upstream's API. */
function readOutputLimit(body: JsonObject): number | null {
  const { generationConfig: config } = body
  const limits = [
    body['max_output_tokens'],
    body['max_completion_tokens'],
    body['max_tokens'],
    isObject(config) ? config['maxOutputTokens'] : undefined,
  ]
  return numberOrNull(limits.find((limit) => typeof limit === 'number'))
}
