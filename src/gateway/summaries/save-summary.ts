/**
 * Keeps a summary that was written: the whole of it in one statement, or nothing. Of one beginning the
 * first is kept, whichever replica it comes from, and is what everybody goes on with.
 */
import type { Caller } from '../../core/client/caller.ts'
import type { SummaryWords } from '../../core/items/summary-message.ts'
import { messageOf } from '../../core/errors/gateway-error.ts'
import { inTime, LATE } from '../../core/wait-with-timeout.ts'
import type { ToBeSummed } from '../../context/summaries/select-summarizable-items.ts'
import type { World } from '../dependencies-interface.ts'
import { active, findSummary, type ActiveSummary } from './load-summary.ts'
import { summaryBorders, type SummaryBorder } from './hash-summary-prefixes.ts'

export interface WrittenSummary extends SummaryWords {
  readonly border: SummaryBorder
  /** How many items it stands for. */
  readonly items: number
  readonly tokensBefore: number
  readonly tokensAfter: number
  readonly model: string
  readonly promptVersion: number
  /** The one that it goes on from. */
  readonly before: ActiveSummary | null
}

export interface Keeping {
  readonly caller: Caller
  /** The turn after which it is made, if that is kept, and one before it that is kept for sure. */
  readonly turn: string | null
  readonly parent: string | null
  readonly conversation: string | null
  readonly begunAtMs: number
  readonly isTemporary: boolean
  /** `false` for whoever wants nothing kept. */
  readonly isKept: boolean
  /** Whether it is nothing if it cannot be kept. */
  readonly isPromised: boolean
  /** Whether it takes the place of one that there is. */
  readonly isAnew: boolean
}

/** Resolves to the one that stands for the beginning from now on. */
export async function keepSummary(
  told: ToBeSummed,
  written: WrittenSummary,
  keeping: Keeping,
  world: World,
): Promise<ActiveSummary> {
  const { border, before, ...words } = written
  const { caller, isKept, isPromised, isAnew, ...ties } = keeping
  const now = world.nowMs()
  const summary = {
    ...words,
    ...ties,
    id: `sum_${world.newTurnId()}`,
    tenant: caller.tenant,
    user: caller.user,
    prefixHash: border.hash,
    turns: border.turns,
    madeFrom: before?.id ?? null,
    generation: (before?.stored.generation ?? 0) + 1,
    createdAtMs: now,
    usedAtMs: now,
  }
  const own = active(told, border, summary)
  if (!isKept) return own
  try {
    const saved = await inTime(world.summaries.saveSummary(summary, isAnew), PATIENCE_MS)
    if (saved === LATE) throw new Error('It took too long.')
    if (saved) return own
    // Somebody was faster, or it was forgotten while it was written.
    return (await findSummary(told, summaryBorders(told), caller, world)) ?? own
  } catch (error) {
    if (isPromised) throw error
    world.log('warn', 'summary-not-kept', { why: messageOf(error) })
    return own
  }
}

/** Whoever waits for ever sums up nothing else. */
const PATIENCE_MS = 30_000
