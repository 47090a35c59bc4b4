/**
 * Makes a summary with a model and stores it. A process makes only one summary of a conversation at a time. If two
 * replicas summarize the same prefix, both use the summary that is stored first, unless one is to replace it.
 */
import { listItemsReplacedBySummary } from '../../context/summaries/apply-summary.ts'
import {
  SUMMARY_PROMPT_VERSION,
  parseSummary,
  buildSummaryChapters,
  createSummaryPromptBuilder,
  type SummaryCut,
} from '../../context/summaries/summary-cut-prompts-and-parser.ts'
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
import { waitWithTimeout } from '../../core/async/wait-with-timeout.ts'
import { saveSummaryFacts } from '../../memory/facts/save-summary-facts.ts'
import { routeModel, type UpstreamTarget } from '../../upstream/accounts-and-model-routing.ts'
import type { ActiveSummary } from '../history/loaded-history.ts'
import { resolveMemoryThread } from '../history/memory-thread-and-storage-permission.ts'
import type { PlannedRequest } from '../prompt/planned-request.ts'
import { resolveInputLimit, sumItemTokens } from '../prompt/size/estimate-tokens-and-window.ts'
import type { SendOptions } from '../send/send-with-fallback.ts'
import { hashSummaryPrefixes, type SummaryPrefix } from './hash-summary-prefixes.ts'
import { findSummary } from './load-summary.ts'
import {
  requestSummary,
  type SummaryModelPorts,
  DEFAULT_CHAPTER_TOKENS,
  type SummaryInput,
} from './request-summary.ts'
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
  /** The tokens that making the summary took; null if the summary was stored already. */
  readonly usage: TokenUsage | null
}

export type SummaryPorts = SummaryModelPorts &
  Ports<'accounts' | 'facts' | 'newTurnId' | 'nowMs' | 'summaries'>

/**
 * Summarizes the items before the cut. Returns `busy` if this process is summarizing the conversation already, or
 * too many others. Throws if the model writes no complete summary.
 */
export async function makeAndSaveSummary(
  planned: PlannedRequest,
  content: SummarizableItems,
  cut: SummaryCut,
  options: SummaryOptions,
  ports: SummaryPorts,
): Promise<MadeSummary | 'busy'> {
  const prefixes = hashSummaryPrefixes(content)
  const prefix = prefixes.find(({ endIndex }) => endIndex === cut.endIndex)
  if (prefix === undefined) throw new Error('A cut must be at the start of a round.')
  const unlock = lockPrefix(prefixes, prefix, options.caller, ports)
  if (unlock === null) return 'busy'
  try {
    // Another replica may have stored a summary up to this cut in the meantime.
    const existing = await findSummary(content, prefixes, options.caller, ports)
    if (existing !== null && existing.prefix.endIndex >= cut.endIndex && !options.replacesExisting)
      return { summary: existing, usage: null }
    const source = { content, prefix, previous: canExtend(existing, options) ? existing : null }
    const { written, usage } = await writeSummary(planned, source, options, ports)
    const summary = await saveSummary(content, written, options, ports)
    await saveFacts(planned, written, options, ports)
    const { tokensBefore, tokensAfter } = written
    const tokensUsed = usage.totalTokens
    ports.log('info', 'summarised', { turns: cut.rounds, tokensBefore, tokensAfter, tokensUsed })
    return { summary, usage }
  } finally {
    unlock()
  }
}

/** Saves the facts in the summary as facts of the user, if the policy turns the memory layer `facts` on. */
async function saveFacts(
  { policy: { layers }, clientRequest, history }: PlannedRequest,
  { facts, itemCount }: WrittenSummary,
  { caller, turnId, mayStore, isTemporary }: SummaryOptions,
  ports: Ports<'facts' | 'log' | 'newTurnId' | 'nowMs'>,
): Promise<void> {
  if (!layers.facts || !mayStore || isTemporary || facts.length === 0) return
  const { thread, jobStartedAtMs } = resolveMemoryThread(clientRequest, history, turnId)
  const afterResponseId = turnId === null ? null : responseId(turnId)
  const source = { thread, jobStartedAtMs, afterResponseId, itemCount }
  const saving = saveSummaryFacts({ ...source, owner: caller, facts, scope: layers.scope }, ports)
  await waitWithTimeout(saving, MAX_FACTS_WAIT_MS)
}

const MAX_FACTS_WAIT_MS = 2000

/**
 * The maximum number of summaries of which each extends the one before. Each extension loses details, so the ninth
 * summary is made from the complete conversation again.
 */
const MAX_GENERATIONS = 8

function canExtend(existing: ActiveSummary | null, { replacesExisting }: SummaryOptions): boolean {
  return existing !== null && !replacesExisting && existing.stored.generation < MAX_GENERATIONS
}

interface SummarySource {
  readonly content: SummarizableItems
  readonly prefix: SummaryPrefix
  /** The summary to extend; null to summarize all items of the prefix. */
  readonly previous: ActiveSummary | null
}

async function writeSummary(
  { policy, clientRequest }: PlannedRequest,
  { content, prefix, previous }: SummarySource,
  { model, focus, onCall, isDisconnected }: SummaryOptions,
  ports: SummaryModelPorts & Ports<'accounts'>,
): Promise<{ readonly written: WrittenSummary; readonly usage: TokenUsage }> {
  const targets = routeModel(ports, model, clientRequest)
  const chapterTokens = resolveChapterTokens(targets[0], policy)
  const input: SummaryInput = {
    previousSummary: previous === null ? null : formatHistorySummary(previous),
    chapters: buildSummaryChapters(content, previous?.prefix.endIndex ?? 0, prefix, chapterTokens),
    buildPrompt: createSummaryPromptBuilder(focus),
  }
  const sending = { targets, model, onCall, isDisconnected }
  const { text, usage } = await requestSummary(input, sending, ports)
  const parsed = parseSummary(text)
  if (parsed.text === '' && parsed.facts.length === 0) {
    throw new GatewayError(
      'upstream_broken',
      'There is nothing in words to sum up, so the conversation was left as it is.',
    )
  }
  const covered = listItemsReplacedBySummary(content.items, prefix.endIndex)
  const written = {
    ...parsed,
    prefix,
    previous,
    itemCount: covered.length,
    tokensBefore: sumItemTokens(covered),
    tokensAfter: estimateItemTokens(createHistorySummaryMessage(parsed)),
    model,
    promptVersion: SUMMARY_PROMPT_VERSION,
  }
  return { written, usage }
}

/**
 * Returns the maximum tokens of a chapter: half of the model's window. The other half is for the summary so far
 * and the answer.
 */
function resolveChapterTokens({ account, model }: UpstreamTarget, policy: ContextPolicy): number {
  const limit = resolveInputLimit(account, model, policy)
  return limit === null
    ? DEFAULT_CHAPTER_TOKENS
    : Math.max(MIN_CHAPTER_TOKENS, Math.floor(limit.tokens / 2))
}

const MIN_CHAPTER_TOKENS = 500

/**
 * Locks a prefix within this process, and returns a function that unlocks it. Returns null if any prefix of the
 * conversation is locked already, or if the process is making 32 summaries. A lock expires after 15 minutes, because
 * a host such as Workers may stop the work without an error.
 */
function lockPrefix(
  prefixes: readonly SummaryPrefix[],
  prefix: SummaryPrefix,
  { tenant, user }: Caller,
  { summaries, nowMs }: Ports<'nowMs' | 'summaries'>,
): (() => void) | null {
  const locks = LOCKS.get(summaries) ?? new Map<string, number>()
  LOCKS.set(summaries, locks)
  const now = nowMs()
  for (const [key, lockedAtMs] of locks) if (lockedAtMs < now - LOCK_EXPIRY_MS) locks.delete(key)
  const formatKey = ({ hash }: SummaryPrefix) => JSON.stringify([tenant, user, hash])
  if (locks.size >= MAX_LOCKS) return null
  if (locks.size > 0 && prefixes.some((other) => locks.has(formatKey(other)))) return null
  const key = formatKey(prefix)
  locks.set(key, now)
  return () => void locks.delete(key)
}

/** For each database, the locked prefixes with the times when they were locked. */
const LOCKS = new WeakMap<object, Map<string, number>>()
const MAX_LOCKS = 32
const LOCK_EXPIRY_MS = 15 * 60 * 1000
