/**
 * Makes a summary. All is done outside of the memory, which then takes the whole of it or nothing:
 * there is no step in between at which anything is lost, or told twice.
 *
 * Of one conversation a process makes one at a time; of two that are made of the same beginning
 * elsewhere, the first is kept, and the other one is forgotten.
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
import { resolveContextWindow } from '../prompt/size/estimate-tokens-and-window.ts'
import type { SendOptions } from '../send/send-with-fallback.ts'
import { hashSummaryPrefixes, type SummaryPrefix } from './hash-summary-prefixes.ts'
import { findSummary } from './load-summary.ts'
import { requestSummary } from './request-summary.ts'
import { saveSummary, type SummaryStorageOptions, type WrittenSummary } from './save-summary.ts'
import type { Ports } from '../dependencies-interface.ts'

/** If it is made anew, then from all that was said, in the place of one that there is. */
export interface SummaryOptions
  extends SummaryStorageOptions, Pick<SendOptions, 'onCall' | 'isDisconnected'> {
  /** Who writes it. */
  readonly model: string
  readonly focus: string | null
}

export interface MadeSummary {
  readonly summary: ActiveSummary
  /** What it took; `null` where there was one already. */
  readonly usage: TokenUsage | null
}

/** `busy`: it is being made already. Throws when no whole summary comes of it. */
export async function makeAndSaveSummary(
  planned: PlannedRequest,
  told: SummarizableItems,
  cut: SummaryCut,
  wish: SummaryOptions,
  ports: Ports<
    | 'accounts'
    | 'facts'
    | 'log'
    | 'memoryLayers'
    | 'newTurnId'
    | 'nowMs'
    | 'settings'
    | 'summaries'
    | 'transport'
  >,
): Promise<MadeSummary | 'busy'> {
  const borders = hashSummaryPrefixes(told)
  const border = borders.find(({ at }) => at === cut.at)
  if (border === undefined) throw new Error('A cut is at the border of two turns.')
  const end = beginMaking(borders, border, wish.caller, ports)
  if (end === null) return 'busy'
  try {
    // Another replica may have been faster.
    const there = await findSummary(told, borders, wish.caller, ports)
    if (there !== null && there.border.at >= cut.at && !wish.isAnew) {
      return { summary: there, usage: null }
    }
    const before = isGoneOnFrom(there, wish) ? there : null
    const { written, usage } = await write(planned, told, { border, before }, wish, ports)
    const {
      onCall: _onCall,
      isDisconnected: _isGone,
      model: _model,
      focus: _focus,
      ...keeping
    } = wish
    const summary = await saveSummary(told, written, keeping, ports)
    await keepFacts(planned, written, wish, ports)
    const { tokensBefore, tokensAfter } = written
    const tokensUsed = usage.totalTokens
    ports.log('info', 'summarised', { turns: cut.turns, tokensBefore, tokensAfter, tokensUsed })
    return { summary, usage }
  } finally {
    end()
  }
}

/** What it keeps word for word outlives the conversation, where facts are wanted. */
async function keepFacts(
  { policy: { layers }, clientRequest, history }: PlannedRequest,
  { facts, items }: WrittenSummary,
  { caller, turn, isKept, isTemporary }: SummaryOptions,
  ports: Ports<'facts' | 'log' | 'newTurnId' | 'nowMs'>,
): Promise<void> {
  if (!layers.facts || !isKept || isTemporary || facts.length === 0) return
  const { thread, begunAtMs } = resolveMemoryThread(clientRequest, history, turn)
  const response = turn === null ? null : responseId(turn)
  const summed = { owner: caller, facts, scope: layers.scope, thread, begunAtMs, response, items }
  await waitWithTimeout(saveSummaryFacts(summed, ports), FACTS_PATIENCE_MS)
}

const FACTS_PATIENCE_MS = 2000

/** How often in a row one goes on from another before all is read again: what is retold fades. */
const MAX_GENERATIONS = 8

function isGoneOnFrom(there: ActiveSummary | null, { isAnew }: SummaryOptions): boolean {
  return there !== null && !isAnew && there.stored.generation < MAX_GENERATIONS
}

async function write(
  planned: PlannedRequest,
  told: SummarizableItems,
  { border, before }: Pick<WrittenSummary, 'border' | 'before'>,
  { model, focus, onCall, isDisconnected }: SummaryOptions,
  ports: Ports<'accounts' | 'log' | 'memoryLayers' | 'settings' | 'transport'>,
): Promise<{ readonly written: WrittenSummary; readonly usage: TokenUsage }> {
  const targets = routeModel(ports, model, planned.clientRequest.dialect)
  const room = chapterTokens(planned, targets[0])
  const plan = {
    before: before === null ? null : formatHistorySummary(before),
    chapters: buildSummarySections(told, before?.border.at ?? 0, border, room),
    question: createSummaryPrompt(focus),
  }
  const { text, usage } = await requestSummary(
    plan,
    { targets, model, onCall, isDisconnected },
    ports,
  )
  const words = parseSummary(text)
  if (words.text === '' && words.facts.length === 0) throw nothingSaid()
  const covered = listCoveredItems(told.items, border.at)
  const tokensBefore = covered.reduce((sum, item) => sum + estimateItemTokens(item), 0)
  const size = { tokensBefore, tokensAfter: estimateItemTokens(createHistorySummaryMessage(words)) }
  const promptVersion = SUMMARY_PROMPT_VERSION
  const written = { ...words, ...size, border, before, items: covered.length, model, promptVersion }
  return { written, usage }
}

/** Half of what the writer can take: the rest is for the summary before, and for its answer. */
function chapterTokens(planned: PlannedRequest, { account, model }: UpstreamTarget): number {
  const { prompt } = planned
  const params = { ...prompt.params, model }
  const window = resolveContextWindow({ ...planned, account, prompt: { ...prompt, params } })
  return window === null ? USUAL_CHAPTER : Math.max(LEAST_CHAPTER, Math.floor(window / 2))
}

const USUAL_CHAPTER = 60_000
const LEAST_CHAPTER = 500

function nothingSaid(): GatewayError {
  return new GatewayError(
    'upstream_broken',
    'There is nothing in words to sum up, so the conversation was left as it is.',
  )
}

/**
 * Which beginnings are being summed up by this process, by the memory that they will be kept in, and
 * since when. A conversation is known by sharing such a beginning. `null` if this one is, or too many
 * are. What was given up by its host in the middle is not waited for for ever.
 */
function beginMaking(
  borders: readonly SummaryPrefix[],
  border: SummaryPrefix,
  { tenant, user }: Caller,
  { summaries, nowMs }: Ports<'nowMs' | 'summaries'>,
): (() => void) | null {
  const making = MAKING.get(summaries) ?? new Map<string, number>()
  MAKING.set(summaries, making)
  const now = nowMs()
  for (const [name, sinceMs] of making) if (sinceMs < now - GIVEN_UP_MS) making.delete(name)
  const nameOf = ({ hash }: SummaryPrefix) => JSON.stringify([tenant, user, hash])
  if (making.size >= MOST_AT_ONCE) return null
  if (making.size > 0 && borders.some((each) => making.has(nameOf(each)))) return null
  const name = nameOf(border)
  making.set(name, now)
  return () => void making.delete(name)
}

const MAKING = new WeakMap<object, Map<string, number>>()
const MOST_AT_ONCE = 32
const GIVEN_UP_MS = 15 * 60 * 1000
