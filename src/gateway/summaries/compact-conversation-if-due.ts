/**
 * Compacts a conversation before it is sent, if it exceeds the threshold in the request's `context_management`.
 * A compaction item, which contains a summary, replaces the conversation. It is also the first item of the answer, so
 * that the client sends it back. If the summary cannot be made, the conversation is sent without a compaction.
 */
import {
  planCompaction,
  listItemsThatCompactionWouldReplace,
  type CompactionPlan,
} from '../../context/summaries/plan-compaction.ts'
import { errorMessage } from '../../core/errors/gateway-error.ts'
import type { OpaqueItem } from '../../core/item.ts'
import { createCompactionItem } from '../../core/items/compaction-item.ts'
import type { TokenUsage } from '../../core/stream-event.ts'
import { estimateTokens } from '../../core/text/estimate-tokens.ts'
import { itemId } from '../../core/turn-derived-ids.ts'
import { hasCompactOrCountEndpoint } from '../../providers/has-compact-or-count-endpoint.ts'
import type { PlanPorts } from '../prompt/list-prompt-transforms.ts'
import { planRequest } from '../prompt/plan-request.ts'
import type { PreparedRequest, PlannedRequest } from '../prompt/planned-request.ts'
import {
  estimateRequestTokens,
  resolveRequestLimit,
} from '../prompt/size/estimate-tokens-and-window.ts'
import {
  requestSummary,
  type SummaryModelOptions,
  type SummaryModelPorts,
  DEFAULT_CHAPTER_TOKENS,
} from './request-summary.ts'

export interface CompactionResult {
  readonly item: OpaqueItem
  readonly usage: TokenUsage
}

/**
 * Returns null if no compaction is due, and `failed` if it fails. Throws instead if the client requested it
 * explicitly.
 */
export async function compactConversationIfDue(
  prepared: PreparedRequest,
  options: SummaryModelOptions,
  turnId: string,
  ports: SummaryModelPorts,
): Promise<CompactionResult | 'failed' | null> {
  if (!isCompactionDue(prepared)) return null
  try {
    const unwindowed = planWithoutWindows(prepared, ports)
    const limit = resolveRequestLimit(prepared)?.tokens ?? null
    const plan = planConversationCompaction(unwindowed, limit)
    const { text, usage } = await requestSummary(plan, options, ports)
    ports.log('info', 'compacted', { turn: turnId, tokens: usage.totalTokens })
    return { item: createCompactionItem(itemId('compaction', turnId, 0), text), usage }
  } catch (error) {
    if (isExplicitlyRequested(prepared) || options.isDisconnected()) throw error
    ports.log('warn', 'not-compacted', { turn: turnId, why: errorMessage(error) })
    return 'failed'
  }
}

/** True if the gateway must compact the conversation; false for an upstream that can do it itself. */
export function isCompactionDue(prepared: PreparedRequest): boolean {
  if (hasCompactOrCountEndpoint(prepared.account, 'compact')) return false
  if (isExplicitlyRequested(prepared)) return true
  const threshold = resolveThreshold(prepared)
  if (threshold === null) return false
  const tokens = estimateRequestTokens(prepared)
  // Compacts only if more than a tenth of the request can be replaced. User messages, for example, cannot.
  return (
    tokens > threshold &&
    estimateTokens(listItemsThatCompactionWouldReplace(prepared.prompt.items)) * 10 > tokens
  )
}

function isExplicitlyRequested({ clientRequest }: PreparedRequest): boolean {
  return clientRequest.overflow?.compactNow === true
}

/** Returns the threshold in tokens: the request's number, or 80 % of the window; null if none is requested or known. */
function resolveThreshold(prepared: PreparedRequest): number | null {
  const { compactAbove = null } = prepared.clientRequest.overflow ?? {}
  if (compactAbove !== 'window') return compactAbove
  const limit = resolveRequestLimit(prepared)
  return limit === null ? null : limit.tokens * 0.8
}

/**
 * Splits the conversation into chapters, each of which is summarized by one request. A chapter has at most half of
 * the model's window.
 */
export function planConversationCompaction(
  { prompt: { items } }: PlannedRequest,
  window: number | null,
): CompactionPlan {
  return planCompaction(items, window === null ? DEFAULT_CHAPTER_TOKENS : Math.ceil(window / 2))
}

/** Plans the request so that no old items are dropped or shortened, because the compaction summarizes all items. */
export function planWithoutWindows(planned: PlannedRequest, ports: PlanPorts): PlannedRequest {
  const { clientRequest, history } = planned
  const target = { account: planned.account, model: planned.prompt.params.model }
  const policyOverrides = {
    ...clientRequest.policyOverrides,
    policy: 'replay' as const,
    // The operator's texts (`notes`) are not part of the conversation, so they are not summarized.
    notes: { mode: 'replace', entries: [] } as const,
  }
  const replayed = { ...clientRequest, policyOverrides }
  return planRequest(target, { clientRequest: replayed, history }, ports)
}
