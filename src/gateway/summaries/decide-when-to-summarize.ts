/**
 * Decides whether a conversation is summarized, and up to which round. The policy names the trigger: a number of
 * tokens, a number of rounds (`turns` in the policy), or only an explicit request.
 */
import {
  findSummaryCut,
  type SummaryCut,
  type SummaryRetention,
} from '../../context/summaries/summary-cut-prompts-and-parser.ts'
import type { SummarizableItems } from '../../context/summaries/select-summarizable-items.ts'
import type { Item } from '../../core/item.ts'
import { findRoundStarts } from '../../core/items/rounds-and-pinned-items.ts'
import {
  UNPAIRED,
  readToolCallIdentity,
  findToolCallPairs,
} from '../../core/items/tool-call-pairs.ts'
import type { PreparedRequest } from '../prompt/planned-request.ts'
import {
  computeMaxRequestTokens,
  estimateRequestTokens,
  resolveRequestLimit,
  resolveSummaryThreshold,
  sumItemTokens,
} from '../prompt/size/estimate-tokens-and-window.ts'

/**
 * Returns the cut for a summary after an answer; null if no summary is due. `items`: the conversation including the
 * answer. No summary is due while the answer has calls without outputs: it would change the prompt's prefix, and the
 * reasoning in the unfinished round is valid only with the same prefix.
 */
export function decideSummaryAfterAnswer(
  prepared: PreparedRequest,
  { items }: SummarizableItems,
  answerItems: readonly Item[],
): SummaryCut | null {
  if (hasUnansweredCall(answerItems)) return null
  const { policy, history } = prepared
  const { trigger, above, ...retention } = policy.summaries
  const { summary, summaryForNextRound = summary } = history
  const { endIndex: after, rounds } = summaryForNextRound?.prefix ?? EMPTY_PREFIX
  if (trigger === 'turns') {
    const maxRounds = above < 1 ? DEFAULT_MAX_ROUNDS : above
    if (findRoundStarts(items).length - rounds < maxRounds) return null
    const cut = findSummaryCut(items, retention, after)
    const minRounds = rounds === 0 ? 1 : computeMinAddedRounds(maxRounds, retention)
    return cut !== null && cut.rounds - rounds >= minRounds ? cut : null
  }
  // An upstream with its own compaction threshold compacts the conversation instead.
  if (trigger !== 'tokens' || prepared.prompt.compactAbove !== undefined) return null
  const limit = resolveSummaryThreshold(above, resolveRequestLimit(prepared))
  if (estimateRequestTokens(prepared) + sumItemTokens(answerItems) <= limit) return null
  const cut = findSummaryCut(items, retention, after)
  if (cut === null) return null
  const remaining = sumItemTokens(items.slice(cut.endIndex))
  const minTokens = rounds === 0 ? 0 : Math.max(MIN_SUMMARIZED_TOKENS, remaining * MIN_GAIN)
  const summarized = sumItemTokens(items.slice(after, cut.endIndex))
  return summarized < Math.max(minTokens, limit * MIN_GAIN) ? null : cut
}

/**
 * Returns the minimum number of rounds that the next summary adds to the last one. With a minimum of 1, a summary
 * would be made in every round once the retained rounds alone reach the limit.
 */
function computeMinAddedRounds(maxRounds: number, { keepTurns }: SummaryRetention): number {
  return Math.max(MIN_ADDED_ROUNDS, Math.min(maxRounds, keepTurns))
}

function hasUnansweredCall(items: readonly Item[]): boolean {
  const partners = findToolCallPairs(items)
  return items.some(
    (item, index) => readToolCallIdentity(item)?.side === 'call' && partners[index] === UNPAIRED,
  )
}

const EMPTY_PREFIX = { endIndex: 0, rounds: 0 }

/**
 * The number of rounds after which a summary is due if `above` names none: it is then a share of the window, e.g.
 * 0.8.
 */
const DEFAULT_MAX_ROUNDS = 32

const MIN_ADDED_ROUNDS = 2

/**
 * The minimum tokens that a summary replaces, as a share of the token limit. A summary that extends another must also
 * add this share of the tokens that remain after it.
 */
const MIN_GAIN = 1 / 8

/** The minimum tokens that a summary adds to the last one: about half of a summary's maximum size. */
const MIN_SUMMARIZED_TOKENS = 500

/**
 * Returns the cut for a summary before sending; null if the request fits the model's window, or the window is
 * unknown.
 */
export function decideSummaryBeforeSending(
  prepared: PreparedRequest,
  { items }: SummarizableItems,
): SummaryCut | null {
  const { trigger } = prepared.policy.summaries
  if (trigger !== 'tokens' && trigger !== 'turns') return null
  const limit = resolveRequestLimit(prepared)
  if (limit === null || estimateRequestTokens(prepared) <= computeMaxRequestTokens(limit, prepared))
    return null
  const { policy, history } = prepared
  // Extends `summary` instead of `summaryForNextRound`, because the new summary is used in this round already.
  return findSummaryCut(items, policy.summaries, history.summary?.prefix.endIndex ?? 0)
}
