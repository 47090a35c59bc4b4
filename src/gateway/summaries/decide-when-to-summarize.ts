/**
 * Whether a conversation is to be summed up, and up to where. What makes a summary is one thing at a
 * time: so many tokens, so many turns, or somebody's request.
 */
import {
  findSummaryCut,
  type SummaryCut,
  type SummaryRetention,
} from '../../context/summaries/plan-and-parse-summary.ts'
import type { SummarizableItems } from '../../context/summaries/select-summarizable-items.ts'
import type { Item } from '../../core/item.ts'
import { estimateItemTokens } from '../../core/items/item-tokens.ts'
import { findRoundStarts } from '../../core/items/rounds-and-pinned-items.ts'
import { UNPAIRED, callEndOf, findToolCallPairs } from '../../core/items/tool-call-pairs.ts'
import type { PreparedRequest } from '../prompt/planned-request.ts'
import {
  computeConversationBudget,
  estimateRequestTokens,
  DEFAULT_CONTEXT_WINDOW,
  resolveContextWindow,
} from '../prompt/size/estimate-tokens-and-window.ts'

/**
 * After an answer: `told` is all there is by then, `said` what the answer adds to the request. Not while
 * tools are at work: the turn would go on behind another beginning than its reasoning was made behind.
 */
export function decideSummaryAfterAnswer(
  prepared: PreparedRequest,
  { items }: SummarizableItems,
  said: readonly Item[],
): SummaryCut | null {
  if (waitsForTools(said)) return null
  const { policy, history } = prepared
  const { trigger, above, ...kept } = policy.summaries
  const { summary, nextSummary = summary } = history
  const { at: after, turns } = nextSummary?.border ?? NOTHING_COVERED
  if (trigger === 'turns') {
    const most = above < 1 ? USUAL_TURNS : above
    if (findRoundStarts(items).length - turns < most) return null
    const cut = findSummaryCut(items, kept, after)
    const isWorthIt =
      cut !== null && cut.turns - turns >= (turns === 0 ? 1 : leastTurns(most, kept))
    return isWorthIt ? cut : null
  }
  // Who compacts by itself has done so by now, if it was time.
  if (trigger !== 'tokens' || prepared.prompt.compactAbove !== undefined) return null
  const limit =
    above > 1 ? above : above * (resolveContextWindow(prepared) ?? DEFAULT_CONTEXT_WINDOW)
  if (estimateRequestTokens(prepared) + weigh(said) <= limit) return null
  const cut = findSummaryCut(items, kept, after)
  if (cut === null) return null
  const left = weigh(items.slice(cut.at)) + weigh(said)
  const least = turns === 0 ? 0 : Math.max(LEAST_TOKENS, left * LEAST_GAIN)
  return weigh(items.slice(after, cut.at)) < Math.max(least, limit * LEAST_GAIN) ? null : cut
}

/**
 * Where what is kept is too much by itself, each turn would make a summary, and a new prefix. So one
 * that goes on from another stands for as many more turns as are kept, or as are asked for.
 */
function leastTurns(most: number, { keepTurns }: SummaryRetention): number {
  return Math.max(LEAST_TURNS, Math.min(most, keepTurns))
}

function waitsForTools(said: readonly Item[]): boolean {
  const partners = findToolCallPairs(said)
  return said.some((item, at) => callEndOf(item)?.side === 'call' && partners[at] === UNPAIRED)
}

const NOTHING_COVERED = { at: 0, turns: 0 }

/** Where a share is meant, and turns are asked for. */
const USUAL_TURNS = 32

const LEAST_TURNS = 2

/** Of what was to be too much, and of what is left. */
const LEAST_GAIN = 1 / 8

/** About half of what a summary itself may come to. */
const LEAST_TOKENS = 500

/** Before it is sent: it would not fit what its model can take for all that is known. */
export function decideSummaryBeforeSending(
  first: PreparedRequest,
  { items }: SummarizableItems,
): SummaryCut | null {
  const { trigger } = first.policy.summaries
  if (trigger !== 'tokens' && trigger !== 'turns') return null
  const window = resolveContextWindow(first)
  if (window === null || estimateRequestTokens(first) <= computeConversationBudget(window, first))
    return null
  const { policy, history } = first
  // One that waits for the next question waits no longer.
  return findSummaryCut(items, policy.summaries, history.summary?.border.at ?? 0)
}

function weigh(items: readonly Item[]): number {
  return items.reduce((sum, item) => sum + estimateItemTokens(item), 0)
}
