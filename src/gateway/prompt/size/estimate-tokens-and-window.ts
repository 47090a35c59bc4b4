/**
 * How large a request is, how much its model can take, and how much of that is left for the
 * conversation. Sizes are estimated over the very body that would be sent, and set right by what the
 * provider has counted of the turn before.
 */
import type { ContextPolicy } from '../../../core/context-policy.ts'
import { isObject, type Json, type JsonObject } from '../../../core/json/json.ts'
import type { TokenUsage } from '../../../core/stream-event.ts'
import { estimateTokens } from '../../../core/text/estimate-tokens.ts'
import type { Account } from '../../../providers/provider-interface.ts'
import { matchesModelPattern } from '../../../upstream/accounts-and-model-routing.ts'
import { knownContextWindow } from '../../../upstream/model-context-windows.ts'
import type { PreparedRequest, PlannedRequest } from '../planned-request.ts'

/** Of what is sent, whoever wrote it. */
export function estimateRequestTokens(prepared: PreparedRequest): number {
  return applyTokenCorrection(estimateBodyTokens(prepared), resolveTokenCorrection(prepared))
}

export function applyTokenCorrection(estimate: number, correction: number): number {
  return Math.ceil(estimate * correction)
}

/** One for all that is estimated of a request, or its parts do not add up. */
export function resolveTokenCorrection({ history }: Pick<PlannedRequest, 'history'>): number {
  return computeTokenCorrection(history.parent?.usage ?? null)
}

/** Many ask for it, and it reads the whole body. */
export function estimateBodyTokens(prepared: PreparedRequest): number {
  const { body } = prepared.encoded
  const known = ESTIMATES.get(body)
  if (known !== undefined) return known
  const tokens = estimateTokens(body)
  ESTIMATES.set(body, tokens)
  return tokens
}

const ESTIMATES = new WeakMap<object, number>()

/** Whether anybody has asked how large it is. */
export function hasBodyEstimate({ encoded }: PreparedRequest): boolean {
  return ESTIMATES.has(encoded.body)
}

/**
 * By how much the provider's count of the turn before differs from the estimate of it, in a few
 * broad classes, so that it seldom changes where a conversation is cut. What no tokeniser could come
 * to is not believed: some servers report their whole window as used.
 */
export function computeTokenCorrection(usage: TokenUsage | null): number {
  const { inputTokens = 0, estimatedInputTokens: estimated = 0 } = usage ?? {}
  const ratio = estimated === 0 ? 1 : inputTokens / estimated
  if (ratio < LEAST_PLAUSIBLE || ratio > MOST_PLAUSIBLE) return 1
  return CLASSES.find((most) => ratio <= most) ?? 1
}

const LEAST_PLAUSIBLE = 0.2
const MOST_PLAUSIBLE = 2.5
const CLASSES = [0.75, 1, 1.25, 1.6, 2, MOST_PLAUSIBLE]

/** `null` when nobody knows. */
export function resolveContextWindow({ account, prompt, policy }: PlannedRequest): number | null {
  return resolveModelWindow(account, prompt.params.model, policy)
}

/** The same, before anything is prepared. */
export function resolveModelWindow(
  account: Account,
  model: string,
  policy: ContextPolicy,
): number | null {
  return certainWindow(account, model, policy) ?? knownContextWindow(model)
}

/** As the operator says, of the account as a number or by model (`{"qwen*": 32768}`), or of a policy. */
export function resolveConfiguredWindow({
  account,
  prompt,
  policy,
}: PlannedRequest): number | null {
  return certainWindow(account, prompt.params.model, policy)
}

function certainWindow(
  { quirks: { contextWindow } }: Account,
  model: string,
  { budget }: ContextPolicy,
): number | null {
  if (budget.window !== null) return budget.window
  if (!isObject(contextWindow)) return numberOrNull(contextWindow)
  const pattern = Object.keys(contextWindow).find((name) => matchesModelPattern(name, model))
  return pattern === undefined ? null : numberOrNull(contextWindow[pattern])
}

/** Where nobody knows what a model can take. */
export const DEFAULT_CONTEXT_WINDOW = 128_000

function numberOrNull(value: Json | undefined): number | null {
  return typeof value === 'number' && value > 0 ? value : null
}

/** What a conversation may take up: the window without what is kept free for the answer. */
export function computeConversationBudget(
  window: number,
  { policy, encoded }: PreparedRequest,
): number {
  const { reserve } = policy.budget
  // Somebody's plan, if it leaves anything to be sent.
  if (reserve !== null && reserve < window) return window - reserve
  const allowed = outputLimitIn(encoded.body)
  // A limit as large as the window is no plan: then half of it is for the conversation.
  const most = Math.floor(window / (reserve === null && allowed === null ? 4 : 2))
  return window - Math.min(reserve ?? allowed ?? USUAL_ANSWER, most)
}

const USUAL_ANSWER = 4096

/** The very limit that is sent, in whatever words of whichever wire. */
function outputLimitIn(body: JsonObject): number | null {
  const { generationConfig: config } = body
  const said = [
    body['max_output_tokens'],
    body['max_completion_tokens'],
    body['max_tokens'],
    isObject(config) ? config['maxOutputTokens'] : undefined,
  ]
  return numberOrNull(said.find((limit) => typeof limit === 'number'))
}
