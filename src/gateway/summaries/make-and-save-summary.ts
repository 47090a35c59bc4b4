/**
 * Makes a summary. All is done outside of the memory, which then takes the whole of it or nothing:
 * there is no step in between at which anything is lost, or told twice.
 *
 * Of one conversation a process makes one at a time; of two that are made of the same beginning
 * elsewhere, the first is kept, and the other one is forgotten.
 */
import type { Caller } from '../../core/client/caller.ts'
import type { Usage } from '../../core/stream-event.ts'
import { responseId } from '../../core/turn-derived-ids.ts'
import { itemTokens } from '../../core/items/item-tokens.ts'
import { inWords, toldSummary } from '../../core/items/summary-message.ts'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import { keepSummary, type Keeping, type WrittenSummary } from './save-summary.ts'
import { findSummary, type ActiveSummary } from './load-summary.ts'
import { memoryPlace } from '../history/memory-thread-and-storage-permission.ts'
import { summaryBorders, type SummaryBorder } from './hash-summary-prefixes.ts'
import { inTime } from '../../core/wait-with-timeout.ts'
import { factsOfSummary } from '../../memory/facts/save-summary-facts.ts'
import { coveredBefore } from '../../context/summaries/apply-summary.ts'
import {
  PROMPT_VERSION,
  readSummary,
  summaryChapters,
  summaryQuestion,
  type Cut,
} from '../../context/summaries/plan-and-parse-summary.ts'
import type { ToBeSummed } from '../../context/summaries/select-summarizable-items.ts'
import type { World } from '../dependencies-interface.ts'
import { route, type Target } from '../../upstream/accounts-and-model-routing.ts'
import type { Asking } from '../send/send-with-fallback.ts'
import { windowOf } from '../prompt/size/estimate-tokens-and-window.ts'
import type { Planned } from '../prompt/plan-request.ts'
import { summarise } from './request-summary.ts'

/** If it is made anew, then from all that was said, in the place of one that there is. */
export interface SummaryWish extends Keeping, Pick<Asking, 'onCall' | 'isGone'> {
  /** Who writes it. */
  readonly model: string
  readonly focus: string | null
}

export interface MadeSummary {
  readonly summary: ActiveSummary
  /** What it took; `null` where there was one already. */
  readonly usage: Usage | null
}

/** `busy`: it is being made already. Throws when no whole summary comes of it. */
export async function makeSummary(
  planned: Planned,
  told: ToBeSummed,
  cut: Cut,
  wish: SummaryWish,
  world: World,
): Promise<MadeSummary | 'busy'> {
  const borders = summaryBorders(told)
  const border = borders.find(({ at }) => at === cut.at)
  if (border === undefined) throw new Error('A cut is at the border of two turns.')
  const end = beginMaking(borders, border, wish.caller, world)
  if (end === null) return 'busy'
  try {
    // Another replica may have been faster.
    const there = await findSummary(told, borders, wish.caller, world)
    if (there !== null && there.border.at >= cut.at && !wish.isAnew) {
      return { summary: there, usage: null }
    }
    const before = isGoneOnFrom(there, wish) ? there : null
    const { written, usage } = await write(planned, told, { border, before }, wish, world)
    const { onCall: _onCall, isGone: _isGone, model: _model, focus: _focus, ...keeping } = wish
    const summary = await keepSummary(told, written, keeping, world)
    await keepFacts(planned, written, wish, world)
    const { tokensBefore, tokensAfter } = written
    const tokensUsed = usage.totalTokens
    world.log('info', 'summarised', { turns: cut.turns, tokensBefore, tokensAfter, tokensUsed })
    return { summary, usage }
  } finally {
    end()
  }
}

/** What it keeps word for word outlives the conversation, where facts are wanted. */
async function keepFacts(
  { policy: { layers }, inbound, history }: Planned,
  { facts, items }: WrittenSummary,
  { caller, turn, isKept, isTemporary }: SummaryWish,
  world: World,
): Promise<void> {
  if (!layers.facts || !isKept || isTemporary || facts.length === 0) return
  const { thread, begunAtMs } = memoryPlace(inbound, history, turn)
  const response = turn === null ? null : responseId(turn)
  const summed = { owner: caller, facts, scope: layers.scope, thread, begunAtMs, response, items }
  await inTime(factsOfSummary(summed, world), FACTS_PATIENCE_MS)
}

const FACTS_PATIENCE_MS = 2000

/** How often in a row one goes on from another before all is read again: what is retold fades. */
const MAX_GENERATIONS = 8

function isGoneOnFrom(there: ActiveSummary | null, { isAnew }: SummaryWish): boolean {
  return there !== null && !isAnew && there.stored.generation < MAX_GENERATIONS
}

async function write(
  planned: Planned,
  told: ToBeSummed,
  { border, before }: Pick<WrittenSummary, 'border' | 'before'>,
  { model, focus, onCall, isGone }: SummaryWish,
  world: World,
): Promise<{ readonly written: WrittenSummary; readonly usage: Usage }> {
  const targets = route(world, model, planned.inbound.dialect)
  const room = chapterTokens(planned, targets[0])
  const plan = {
    before: before === null ? null : inWords(before),
    chapters: summaryChapters(told, before?.border.at ?? 0, border, room),
    question: summaryQuestion(focus),
  }
  const { text, usage } = await summarise(plan, { targets, model, onCall, isGone }, world)
  const words = readSummary(text)
  if (words.text === '' && words.facts.length === 0) throw nothingSaid()
  const covered = coveredBefore(told.items, border.at)
  const tokensBefore = covered.reduce((sum, item) => sum + itemTokens(item), 0)
  const size = { tokensBefore, tokensAfter: itemTokens(toldSummary(words)) }
  const promptVersion = PROMPT_VERSION
  const written = { ...words, ...size, border, before, items: covered.length, model, promptVersion }
  return { written, usage }
}

/** Half of what the writer can take: the rest is for the summary before, and for its answer. */
function chapterTokens(planned: Planned, { account, model }: Target): number {
  const { prompt } = planned
  const params = { ...prompt.params, model }
  const window = windowOf({ ...planned, account, prompt: { ...prompt, params } })
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
  borders: readonly SummaryBorder[],
  border: SummaryBorder,
  { tenant, user }: Caller,
  { summaries, nowMs }: World,
): (() => void) | null {
  const making = MAKING.get(summaries) ?? new Map<string, number>()
  MAKING.set(summaries, making)
  const now = nowMs()
  for (const [name, sinceMs] of making) if (sinceMs < now - GIVEN_UP_MS) making.delete(name)
  const nameOf = ({ hash }: SummaryBorder) => JSON.stringify([tenant, user, hash])
  if (making.size >= MOST_AT_ONCE) return null
  if (making.size > 0 && borders.some((each) => making.has(nameOf(each)))) return null
  const name = nameOf(border)
  making.set(name, now)
  return () => void making.delete(name)
}

const MAKING = new WeakMap<object, Map<string, number>>()
const MOST_AT_ONCE = 32
const GIVEN_UP_MS = 15 * 60 * 1000
