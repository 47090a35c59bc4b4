/**
 * Decides whether a conversation is summarized, and up to which round. The policy's trigger is a number of
 * tokens, a number of turns (policies count rounds as turns), or only an explicit request.
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
 * Decides after an answer. `items`: the complete conversation with the answer; `answerItems`: the answer.
 * Returns null while calls of the answer wait for their outputs: a summary would change the prompt's prefix,
 * which the reasoning of the unfinished round depends on.
 */
export function decideSummaryAfterAnswer(
  prepared: PreparedRequest,
  { items }: SummarizableItems,
  answerItems: readonly Item[],
): SummaryCut | null {
  if (hasUnansweredCall(answerItems)) return null
  const { policy, history } = prepared
  const { trigger, above, ...retention } = policy.summaries
  const { summary, nextSummary = summary } = history
  const { at: after, turns } = nextSummary?.border ?? EMPTY_PREFIX
  if (trigger === 'turns') {
    const maxTurns = above < 1 ? DEFAULT_MAX_TURNS : above
    if (findRoundStarts(items).length - turns < maxTurns) return null
    const cut = findSummaryCut(items, retention, after)
    const minTurns = turns === 0 ? 1 : computeMinTurns(maxTurns, retention)
    return cut !== null && cut.turns - turns >= minTurns ? cut : null
  }
  // An upstream with a compaction threshold has compacted the conversation by now, if it was due.
  if (trigger !== 'tokens' || prepared.prompt.compactAbove !== undefined) return null
  // `above` is a share of the window up to 1, and a number of tokens otherwise.
  const limit =
    above > 1 ? above : above * (resolveContextWindow(prepared) ?? DEFAULT_CONTEXT_WINDOW)
  if (estimateRequestTokens(prepared) + sumItemTokens(answerItems) <= limit) return null
  const cut = findSummaryCut(items, retention, after)
  if (cut === null) return null
  const remaining = sumItemTokens(items.slice(cut.at)) + sumItemTokens(answerItems)
  const minTokens = turns === 0 ? 0 : Math.max(MIN_SUMMARIZED_TOKENS, remaining * MIN_GAIN)
  const summarized = sumItemTokens(items.slice(after, cut.at))
  return summarized < Math.max(minTokens, limit * MIN_GAIN) ? null : cut
}

/**
 * Returns how many more rounds the next summary must replace. If the retained rounds alone exceeded the limit,
 * each round would otherwise make a summary, and with it a new prefix of the prompt.
 */
function computeMinTurns(maxTurns: number, { keepTurns }: SummaryRetention): number {
  return Math.max(MIN_ADDED_TURNS, Math.min(maxTurns, keepTurns))
}

function hasUnansweredCall(items: readonly Item[]): boolean {
  const partners = findToolCallPairs(items)
  return items.some(
    (item, index) => callEndOf(item)?.side === 'call' && partners[index] === UNPAIRED,
  )
}

const EMPTY_PREFIX = { at: 0, turns: 0 }

/** Number of turns if `above` is a share (e.g. 0.8), which makes no sense for turns. */
const DEFAULT_MAX_TURNS = 32

const MIN_ADDED_TURNS = 2

/** A summary must replace at least an eighth of the limit and of the remaining items. */
const MIN_GAIN = 1 / 8

/** Min tokens that a summary replaces: about half of the tokens that a summary itself may have. */
const MIN_SUMMARIZED_TOKENS = 500

/** Decides before a request is sent: returns a cut if the request does not fit the model's window. */
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
  // Continues `summary`, which is in use, not `nextSummary`: the new summary is used at once.
  return findSummaryCut(items, policy.summaries, history.summary?.border.at ?? 0)
}

function sumItemTokens(items: readonly Item[]): number {
  return items.reduce((sum, item) => sum + estimateItemTokens(item), 0)
}
