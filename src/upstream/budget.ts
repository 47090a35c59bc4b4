/**
 * How large a request is, how much its model can take, and how much of that is left for the
 * conversation. Sizes are estimated over the very body that would be sent, and set right by what the
 * provider has counted of the turn before.
 */
import type { Usage } from '../conversation/event.ts'
import { isObject, type Json } from '../conversation/json.ts'
import { estimateTokens } from '../conversation/tokens.ts'
import { matches } from './accounts.ts'
import { usualWindow } from './context-windows.ts'
import type { Prepared } from './prepare.ts'

/** Of what is sent, whoever wrote it. */
export function tokensOf(prepared: Prepared): number {
  return Math.ceil(estimateOf(prepared) * correctionFor(prepared.history.parent?.usage ?? null))
}

/** Many ask for it, and it reads the whole body. */
export function estimateOf(prepared: Prepared): number {
  const { encoded, prompt } = prepared
  const body = encoded.body instanceof Uint8Array ? prompt.source.body : encoded.body
  const known = ESTIMATES.get(body)
  if (known !== undefined) return known
  const tokens = estimateTokens(body)
  ESTIMATES.set(body, tokens)
  return tokens
}

const ESTIMATES = new WeakMap<object, number>()

/** Whether anybody has asked how large it is. */
export function isEstimated({ encoded, prompt }: Prepared): boolean {
  return ESTIMATES.has(encoded.body instanceof Uint8Array ? prompt.source.body : encoded.body)
}

/**
 * By how much the provider's count of the turn before differs from the estimate of it, in a few
 * broad classes, so that it seldom changes where a conversation is cut. What no tokeniser could come
 * to is not believed: some servers report their whole window as used.
 */
export function correctionFor(usage: Usage | null): number {
  const { inputTokens = 0, estimatedInputTokens: estimated = 0 } = usage ?? {}
  const ratio = estimated === 0 ? 1 : inputTokens / estimated
  if (ratio < LEAST_PLAUSIBLE || ratio > MOST_PLAUSIBLE) return 1
  return CLASSES.find((most) => ratio <= most) ?? 1
}

const LEAST_PLAUSIBLE = 0.2
const MOST_PLAUSIBLE = 2.5
const CLASSES = [0.75, 1, 1.25, 1.6, 2, MOST_PLAUSIBLE]

/** `null` when nobody knows. */
export function windowOf(prepared: Prepared): number | null {
  return certainWindowOf(prepared) ?? usualWindow(prepared.prompt.params.model)
}

/** As the operator says, of the account as a number or by model (`{"qwen*": 32768}`), or of a policy. */
export function certainWindowOf({ account, prompt, policy }: Prepared): number | null {
  const { contextWindow } = account.quirks
  if (policy.budget.window !== null) return policy.budget.window
  if (!isObject(contextWindow)) return numberOrNull(contextWindow)
  const { model } = prompt.params
  const pattern = Object.keys(contextWindow).find((name) => matches(name, model))
  return pattern === undefined ? null : numberOrNull(contextWindow[pattern])
}

function numberOrNull(value: Json | undefined): number | null {
  return typeof value === 'number' && value > 0 ? value : null
}

/** What a conversation may take up: the window without what is kept free for the answer. */
export function roomIn(window: number, { policy, prompt, encoded }: Prepared): number {
  const { body } = encoded
  const allowed = outputLimitIn(body instanceof Uint8Array ? prompt.source.body : body)
  const wanted = policy.budget.reserve ?? allowed ?? USUAL_ANSWER
  // A limit as large as the window is no plan: then half of it is for the conversation.
  return window - Math.min(wanted, Math.floor(window / (allowed === null ? 4 : 2)))
}

const USUAL_ANSWER = 4096

/** The very limit that is sent, in whatever words of whichever wire. */
function outputLimitIn(body: unknown): number | null {
  if (!isObject(body)) return null
  const { generationConfig: config } = body
  const said = [
    body['max_output_tokens'],
    body['max_completion_tokens'],
    body['max_tokens'],
    isObject(config) ? config['maxOutputTokens'] : undefined,
  ]
  return numberOrNull(said.find((limit) => typeof limit === 'number'))
}
