/**
 * Makes a summary with a model and stores it in one statement, so that a crash loses nothing. A process
 * makes one summary of a conversation at a time; if two replicas summarize the same prefix, the first
 * stored summary is used.
 */
import { listCoveredItems } from '../../context/summaries/apply-summary.ts'
import {
  SUMMARY_PROMPT_VERSION,
  parseSummary,
  buildSummarySections,
  createSummaryPrompt,
  type SummaryCut,
} from '../../context/summaries/plan-and-parse-summary.ts'
import type { SummarizableItems } from '../../context/summaries/select-summarizable-items.ts'
import type { Caller } from '../../core/client/caller.ts'
import type { ContextPolicy } from '../../core/context-policy.ts'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import { estimateItemTokens } from '../../core/items/item-tokens.ts'
import {
  formatHistorySummary,
  createHistorySummaryMessage,
} from '../../core/items/summary-message.ts'
import type { TokenUsage } from '../../core/stream-event.ts'
import { responseId } from '../../core/turn-derived-ids.ts'
import { waitWithTimeout } from '../../core/wait-with-timeout.ts'
import { saveSummaryFacts } from '../../memory/facts/save-summary-facts.ts'
import { routeModel, type UpstreamTarget } from '../../upstream/accounts-and-model-routing.ts'
import type { ActiveSummary } from '../history/loaded-history.ts'
import { resolveMemoryThread } from '../history/memory-thread-and-storage-permission.ts'
import type { PlannedRequest } from '../prompt/planned-request.ts'
import { resolveModelWindow } from '../prompt/size/estimate-tokens-and-window.ts'
import type { SendOptions } from '../send/send-with-fallback.ts'
import { hashSummaryPrefixes, type SummaryPrefix } from './hash-summary-prefixes.ts'
import { findSummary } from './load-summary.ts'
import { requestSummary } from './request-summary.ts'
import { saveSummary, type SummaryStorageOptions, type WrittenSummary } from './save-summary.ts'
import type { Ports } from '../dependencies-interface.ts'

export interface SummaryOptions
  extends SummaryStorageOptions, Pick<SendOptions, 'onCall' | 'isDisconnected'> {
  /** The model that writes the summary. */
  readonly model: string
  readonly focus: string | null
}

export interface MadeSummary {
  readonly summary: ActiveSummary
  /** The tokens of the summary's requests; null if the summary existed already. */
  readonly usage: TokenUsage | null
}

export type SummaryPorts = Ports<
  | 'accounts'
  | 'facts'
  | 'log'
  | 'memoryLayers'
  | 'newTurnId'
  | 'nowMs'
  | 'settings'
  | 'summaries'
  | 'transport'
>

/**
 * Returns `busy` if the conversation is being summarized already. Throws if the model writes no complete
 * summary.
 */
export async function makeAndSaveSummary(
  planned: PlannedRequest,
  content: SummarizableItems,
  cut: SummaryCut,
  options: SummaryOptions,
  ports: SummaryPorts,
): Promise<MadeSummary | 'busy'> {
  const prefixes = hashSummaryPrefixes(content)
  const border = prefixes.find(({ at }) => at === cut.at)
  if (border === undefined) throw new Error('A cut is at the border of two turns.')
  const unlock = lockPrefix(prefixes, border, options.caller, ports)
  if (unlock === null) return 'busy'
  try {
    // Another replica may have stored one.
    const existing = await findSummary(content, prefixes, options.caller, ports)
    if (existing !== null && existing.border.at >= cut.at && !options.replacesExisting)
      return { summary: existing, usage: null }
    const source = { content, border, previous: canExtend(existing, options) ? existing : null }
    const { written, usage } = await writeSummary(planned, source, options, ports)
    const summary = await saveSummary(content, written, options, ports)
    await saveFacts(planned, written, options, ports)
    const { tokensBefore, tokensAfter } = written
    const tokensUsed = usage.totalTokens
    ports.log('info', 'summarised', { turns: cut.turns, tokensBefore, tokensAfter, tokensUsed })
    return { summary, usage }
  } finally {
    unlock()
  }
}

/** Saves the facts of the summary in the memory layer, if the policy turns that on. */
async function saveFacts(
  { policy: { layers }, clientRequest, history }: PlannedRequest,
  { facts, items }: WrittenSummary,
  { caller, turn, mayStore, isTemporary }: SummaryOptions,
  ports: Ports<'facts' | 'log' | 'newTurnId' | 'nowMs'>,
): Promise<void> {
  if (!layers.facts || !mayStore || isTemporary || facts.length === 0) return
  const { thread, begunAtMs } = resolveMemoryThread(clientRequest, history, turn)
  const response = turn === null ? null : responseId(turn)
  const source = { owner: caller, facts, scope: layers.scope, thread, begunAtMs, response, items }
  await waitWithTimeout(saveSummaryFacts(source, ports), MAX_FACTS_WAIT_MS)
}

const MAX_FACTS_WAIT_MS = 2000

/**
 * Max number of summaries that are each made from the one before, which loses details. The next is made from
 * the complete conversation.
 */
const MAX_GENERATIONS = 8

function canExtend(existing: ActiveSummary | null, { replacesExisting }: SummaryOptions): boolean {
  return existing !== null && !replacesExisting && existing.stored.generation < MAX_GENERATIONS
}

interface SummarySource {
  readonly content: SummarizableItems
  readonly border: SummaryPrefix
  /** The summary that is extended; null if the summary is made from all items before the border. */
  readonly previous: ActiveSummary | null
}

async function writeSummary(
  { policy, clientRequest }: PlannedRequest,
  { content, border, previous }: SummarySource,
  { model, focus, onCall, isDisconnected }: SummaryOptions,
  ports: Ports<'accounts' | 'log' | 'memoryLayers' | 'settings' | 'transport'>,
): Promise<{ readonly written: WrittenSummary; readonly usage: TokenUsage }> {
  const targets = routeModel(ports, model, clientRequest.dialect)
  const chapterTokens = resolveChapterTokens(targets[0], policy)
  const material = {
    before: previous === null ? null : formatHistorySummary(previous),
    chapters: buildSummarySections(content, previous?.border.at ?? 0, border, chapterTokens),
    question: createSummaryPrompt(focus),
  }
  const sending = { targets, model, onCall, isDisconnected }
  const { text, usage } = await requestSummary(material, sending, ports)
  const parsed = parseSummary(text)
  if (parsed.text === '' && parsed.facts.length === 0) throw createNothingToSummarizeError()
  const covered = listCoveredItems(content.items, border.at)
  const written = {
    ...parsed,
    border,
    previous,
    items: covered.length,
    tokensBefore: covered.reduce((sum, item) => sum + estimateItemTokens(item), 0),
    tokensAfter: estimateItemTokens(createHistorySummaryMessage(parsed)),
    model,
    promptVersion: SUMMARY_PROMPT_VERSION,
  }
  return { written, usage }
}

/** Returns half of the model's window; the other half is for the previous summary and the answer. */
function resolveChapterTokens({ account, model }: UpstreamTarget, policy: ContextPolicy): number {
  const window = resolveModelWindow(account, model, policy)
  return window === null
    ? DEFAULT_CHAPTER_TOKENS
    : Math.max(MIN_CHAPTER_TOKENS, Math.floor(window / 2))
}

const DEFAULT_CHAPTER_TOKENS = 60_000
const MIN_CHAPTER_TOKENS = 500

function createNothingToSummarizeError(): GatewayError {
  return new GatewayError(
    'upstream_broken',
    'There is nothing in words to sum up, so the conversation was left as it is.',
  )
}

/**
 * Locks a prefix within this process, and returns a function that unlocks it. Returns null if any prefix of
 * the conversation is locked, or if the process makes 32 summaries already. A lock expires after 15 minutes,
 * in case the host stopped the work without an error, as Workers do.
 */
function lockPrefix(
  prefixes: readonly SummaryPrefix[],
  border: SummaryPrefix,
  { tenant, user }: Caller,
  { summaries, nowMs }: Ports<'nowMs' | 'summaries'>,
): (() => void) | null {
  const locks = LOCKS.get(summaries) ?? new Map<string, number>()
  LOCKS.set(summaries, locks)
  const now = nowMs()
  for (const [key, lockedAtMs] of locks) if (lockedAtMs < now - LOCK_EXPIRY_MS) locks.delete(key)
  const formatKey = ({ hash }: SummaryPrefix) => JSON.stringify([tenant, user, hash])
  if (locks.size >= MAX_LOCKS) return null
  if (locks.size > 0 && prefixes.some((prefix) => locks.has(formatKey(prefix)))) return null
  const key = formatKey(border)
  locks.set(key, now)
  return () => void locks.delete(key)
}

/** The locked prefixes with the time of their lock, for each database. */
const LOCKS = new WeakMap<object, Map<string, number>>()
const MAX_LOCKS = 32
const LOCK_EXPIRY_MS = 15 * 60 * 1000
