/**
 * Compacts a conversation before it is sent, if the request exceeds the threshold in its
 * `context_management`. The compaction replaces the conversation, and is the first item of the answer, so
 * that the client sends it back. If the model fails to write it, the conversation is sent unchanged.
 */
import {
  planCompaction,
  listReplacedItems,
  type CompactionPlan,
} from '../../context/summaries/plan-compaction.ts'
import type { ClientRequest } from '../../core/client-request.ts'
import { errorMessage } from '../../core/errors/gateway-error.ts'
import type { OpaqueItem } from '../../core/item.ts'
import { createCompactionItem } from '../../core/items/compaction-item.ts'
import type { TokenUsage } from '../../core/stream-event.ts'
import { estimateTokens } from '../../core/text/estimate-tokens.ts'
import { itemId } from '../../core/turn-derived-ids.ts'
import { hasResponsesEndpoint } from '../../providers/has-responses-endpoint.ts'
import { planRequest } from '../prompt/plan-request.ts'
import type { PreparedRequest, PlannedRequest } from '../prompt/planned-request.ts'
import {
  estimateRequestTokens,
  resolveContextWindow,
} from '../prompt/size/estimate-tokens-and-window.ts'
import { requestSummary, type SummaryModelOptions } from './request-summary.ts'
import type { Ports } from '../dependencies-interface.ts'

export interface CompactionResult {
  readonly item: OpaqueItem
  readonly usage: TokenUsage
}

/** Returns null if no compaction is due. Throws if an explicitly requested compaction fails. */
export async function compactIfDue(
  first: PreparedRequest,
  options: SummaryModelOptions,
  turnId: string,
  ports: Ports<'log' | 'memoryLayers' | 'settings' | 'transport'>,
): Promise<CompactionResult | 'failed' | null> {
  if (!isCompactionDue(first)) return null
  try {
    const unwindowed = planWithoutWindows(first, ports)
    const plan = planConversationCompaction(unwindowed, resolveContextWindow(first))
    const { text, usage } = await requestSummary(plan, options, ports)
    ports.log('info', 'compacted', { turn: turnId, tokens: usage.totalTokens })
    return { item: createCompactionItem(itemId('compaction', turnId, 0), text), usage }
  } catch (error) {
    if (isExplicitlyRequested(first) || options.isDisconnected()) throw error
    ports.log('warn', 'not-compacted', { turn: turnId, why: errorMessage(error) })
    return 'failed'
  }
}

/** False for an upstream that makes compactions itself. */
export function isCompactionDue(first: PreparedRequest): boolean {
  if (hasResponsesEndpoint(first.account, 'compact')) return false
  if (isExplicitlyRequested(first)) return true
  const threshold = resolveThreshold(first)
  if (threshold === null) return false
  const tokens = estimateRequestTokens(first)
  // At least a tenth of the request must be replaceable; user messages, for example, are not.
  return tokens > threshold && estimateTokens(listReplacedItems(first.prompt.items)) * 10 > tokens
}

function isExplicitlyRequested({ clientRequest }: PreparedRequest): boolean {
  return clientRequest.overflow?.compactNow === true
}

/** Returns the threshold in tokens: the request's number, else 80 % of the window; null if neither is known. */
function resolveThreshold(first: PreparedRequest): number | null {
  const { compactAbove = null } = first.clientRequest.overflow ?? {}
  if (compactAbove !== 'window') return compactAbove
  const window = resolveContextWindow(first)
  return window === null ? null : window * 0.8
}

/**
 * Plans the compaction in parts (chapters), each summarized by one model call and at most half of that
 * model's window.
 */
export function planConversationCompaction(
  { prompt: { items } }: PlannedRequest,
  window: number | null,
): CompactionPlan {
  return planCompaction(items, window === null ? DEFAULT_CHAPTER_TOKENS : Math.ceil(window / 2))
}

/** Plans the request with all items that its policy leaves out or shortens: they are summarized as well. */
export function planWithoutWindows(
  planned: PlannedRequest,
  ports: Ports<'memoryLayers' | 'settings'>,
): PlannedRequest {
  const { clientRequest, history } = planned
  const target = { account: planned.account, model: planned.prompt.params.model }
  const policyOverrides = {
    ...clientRequest.policyOverrides,
    policy: 'replay' as const,
    // Notes of the policy are not part of the conversation.
    notes: { mode: 'replace', entries: [] } as const,
  }
  return planRequest(
    target,
    { clientRequest: { ...clientRequest, policyOverrides }, history },
    ports,
  )
}

/** Tokens per chapter if the window is unknown: about half of 128,000, the smallest common window. */
const DEFAULT_CHAPTER_TOKENS = 60_000

/** Adds the compaction as the last item of the request, before the model's answer. */
export function appendCompaction(
  clientRequest: ClientRequest,
  { item }: CompactionResult,
): ClientRequest {
  return { ...clientRequest, items: [...clientRequest.items, item] }
}

/** Makes the compaction the first item of the answer; the client's request stays without it. */
export function startAnswerWithCompaction(
  prepared: PreparedRequest,
  { item }: CompactionResult,
  clientRequest: ClientRequest,
): PreparedRequest {
  return { ...prepared, clientRequest, answerPrefix: item }
}
