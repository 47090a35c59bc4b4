/**
 * Compaction that runs by itself: when what would be sent has grown over the threshold that the
 * request names, a summary is made first and stands for the conversation from then on. It is the
 * first item of the answer, so whoever goes on from there has it. If it cannot be made, everything
 * stays as it was.
 */
import {
  planCompaction,
  listReplacedItems,
  type CompactionPlan,
} from '../../context/summaries/plan-compaction.ts'
import type { ClientRequest } from '../../core/client-request.ts'
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

/** `null` when there is no need, or nothing to gain. What was asked for by name must not fail. */
export async function compactIfDue(
  first: PreparedRequest,
  asked: SummaryModelOptions,
  turnId: string,
  ports: Ports<'log' | 'memoryLayers' | 'settings' | 'transport'>,
): Promise<CompactionResult | 'failed' | null> {
  if (!isCompactionDue(first)) return null
  try {
    const { text, usage } = await requestSummary(planOf(first, ports), asked, ports)
    ports.log('info', 'compacted', { turn: turnId, tokens: usage.totalTokens })
    return { item: createCompactionItem(itemId('compaction', turnId, 0), text), usage }
  } catch (error) {
    if (isAskedFor(first) || asked.isDisconnected()) throw error
    const why = error instanceof Error ? error.message : String(error)
    ports.log('warn', 'not-compacted', { turn: turnId, why })
    return 'failed'
  }
}

/** Who makes compactions itself is left to do so. */
export function isCompactionDue(first: PreparedRequest): boolean {
  if (hasResponsesEndpoint(first.account, 'compact')) return false
  if (isAskedFor(first)) return true
  const limit = limitOf(first)
  if (limit === null) return false
  const tokens = estimateRequestTokens(first)
  // What would be replaced must be worth it: a user's own words stay as they are.
  return tokens > limit && estimateTokens(listReplacedItems(first.prompt.items)) * 10 > tokens
}

function isAskedFor({ clientRequest }: PreparedRequest): boolean {
  return clientRequest.overflow?.compactNow === true
}

/** Where no threshold is named, a fifth of the window is left for what is to come. */
function limitOf(first: PreparedRequest): number | null {
  const { compactAbove = null } = first.clientRequest.overflow ?? {}
  if (compactAbove !== 'window') return compactAbove
  const window = resolveContextWindow(first)
  return window === null ? null : window * 0.8
}

function planOf(first: PreparedRequest, ports: Ports<'memoryLayers' | 'settings'>): CompactionPlan {
  return planConversationCompaction(planWithoutWindows(first, ports), resolveContextWindow(first))
}

/** Of all that there is, in chapters that who sums it up can take. */
export function planConversationCompaction(
  { prompt: { items } }: PlannedRequest,
  window: number | null,
): CompactionPlan {
  return planCompaction(items, window === null ? CHAPTER_TOKENS : Math.ceil(window / 2))
}

/** With what a window would leave out or shorten: it is to be summed up, too. */
export function planWithoutWindows(
  cut: PlannedRequest,
  ports: Ports<'memoryLayers' | 'settings'>,
): PlannedRequest {
  const { account, clientRequest, history, prompt } = cut
  const wishes = { ...clientRequest.policyOverrides, policy: 'replay' as const, notes: NO_NOTES }
  const whole = { ...clientRequest, policyOverrides: wishes }
  return planRequest(
    { account, model: prompt.params.model },
    { clientRequest: whole, history },
    ports,
  )
}

/** They are told beside the conversation, and are no part of it. */
const NO_NOTES = { mode: 'replace', entries: [] } as const

/** Half of the smallest window that is common today. */
const CHAPTER_TOKENS = 60_000

/** The compaction stands behind everything that was given, and in front of what the model says. */
export function appendCompaction(
  clientRequest: ClientRequest,
  { item }: CompactionResult,
): ClientRequest {
  return { ...clientRequest, items: [...clientRequest.items, item] }
}

/** The client has asked what it has asked; the compaction belongs to the answer. */
export function startAnswerWithCompaction(
  prepared: PreparedRequest,
  { item }: CompactionResult,
  clientRequest: ClientRequest,
): PreparedRequest {
  return { ...prepared, clientRequest, answerPrefix: item }
}
