/**
 * Makes a request fit the model's window, if it may be cut: what is old is shortened and left out, in
 * steps, and the newest question never. What cannot fit is refused, where the window is known for sure
 * (`reject-over-window.ts`); elsewhere the upstream decides.
 */
import { sumWeights } from '../../../context/windows/item-weights.ts'
import { estimateMaxTokens } from '../../../context/windows/token-budget-weights.ts'
import { estimateItemTokens } from '../../../core/items/item-tokens.ts'
import { estimateTokens } from '../../../core/text/estimate-tokens.ts'
import { encodePlannedRequest } from '../encode-planned-request.ts'
import { planRequest } from '../plan-request.ts'
import type { PreparedRequest, PlannedRequest } from '../planned-request.ts'
import {
  computeTokenCorrection,
  estimateBodyTokens,
  computeConversationBudget,
  estimateRequestTokens,
  resolveContextWindow,
} from './estimate-tokens-and-window.ts'
import { isOverWindow, rejectOverWindow, type OverflowRule } from './reject-over-window.ts'
import type { Ports } from '../../dependencies-interface.ts'

/** Whether `fit` has nothing to do: nothing is to be cut, and nobody refused. */
export function fitsWindow(prepared: PreparedRequest): boolean {
  const overflow = overflowOf(prepared)
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
  const overflow = overflowOf(prepared)
  const window = overflow === 'send' ? null : resolveContextWindow(prepared)
  if (window === null) return prepared
  const fitting =
    overflow === 'cut'
      ? cutToFit(prepared, computeConversationBudget(window, prepared), ports)
      : prepared
  rejectOverWindow(fitting, overflow)
  return fitting
}

/** The policy's word, or that of the request, or none, as in a dialect that has no words for it. */
function overflowOf({ policy, clientRequest }: PreparedRequest): OverflowRule {
  const { overflow } = policy.budget
  if (overflow !== 'auto') return overflow
  const { overflow: context } = clientRequest
  if (context === null) return 'send unless hopeless'
  return context.truncation === 'auto' ? 'cut' : 'refuse'
}

/**
 * What has gone is told from the list alone (`context/windows/plan-token-budget.ts`), so it is asked for also when all
 * that is left would fit: a turn that was left out when a question needed its room stays so.
 */
function cutToFit(
  prepared: PreparedRequest,
  room: number,
  ports: Ports<'memoryLayers' | 'settings'>,
): PreparedRequest {
  const { account, clientRequest, history, prompt } = prepared
  const target = { account, model: prompt.params.model }
  const isEnough = (one: PreparedRequest) => estimateRequestTokens(one) <= room
  const least = weightOf(prepared)
  const most = mostFor(prepared, room, least)
  if (isEnough(prepared) && estimateMaxTokens(prepared.items) <= most) return prepared
  let cut = prepared
  // What is left over may weigh more than the average of all that there was.
  for (const heavier of [1, 1.25, 1.5, 2]) {
    const less = mostFor(prepared, room, least * heavier)
    const plan = planRequest(target, { clientRequest, history, tokenBudget: less }, ports)
    // A plan that cuts nothing is the one that there was, and need not be said again to be measured.
    cut = cutsAnything(plan) ? encodePlannedRequest(plan) : prepared
    if (isEnough(cut)) break
  }
  return cut
}

function cutsAnything({ notes }: PlannedRequest): boolean {
  return notes.some(({ by }) => by === 'window-room')
}

/**
 * So many tokens of items there is room for, as they are weighed by themselves. It is to change seldom,
 * for another number means another cut: what it is made of is rounded, to the safe side.
 */
function mostFor(prepared: PreparedRequest, room: number, weight: number): number {
  const { history, policy } = prepared
  const notes = estimateTokens(policy.notes.entries.map(({ text }) => text))
  // As much as layers may ever tell, for what they tell may change from turn to turn.
  const layers = history.layers === undefined ? 0 : policy.layers.tokens
  const coarse = Math.max(1, Math.floor(room / 64))
  const beside = Math.ceil((fixedIn(prepared) + notes + layers) / coarse) * coarse
  const corrected = room / computeTokenCorrection(history.parent?.usage ?? null)
  return Math.max(1, Math.floor((corrected - beside) / weight))
}

/** Items weigh more in some wires than in others. In eighths, rounded up. */
function weightOf(prepared: PreparedRequest): number {
  const items = sumWeights(prepared.prompt.items.map(estimateItemTokens))
  const said = Math.max(1, estimateBodyTokens(prepared) - fixedIn(prepared))
  return Math.ceil((said / Math.max(1, items)) * 8) / 8
}

/** Instructions and tools cannot be cut. */
function fixedIn({ prompt: { params } }: PreparedRequest): number {
  return estimateTokens([params.instructions, params.tools])
}
