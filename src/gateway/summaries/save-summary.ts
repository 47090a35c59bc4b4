/**
 * Keeps a summary that was written: the whole of it in one statement, or nothing. Of one beginning the
 * first is kept, whichever replica it comes from, and is what everybody goes on with.
 */
import type { SummarizableItems } from '../../context/summaries/select-summarizable-items.ts'
import type { Caller } from '../../core/client/caller.ts'
import { errorMessage } from '../../core/errors/gateway-error.ts'
import type { SummaryContent } from '../../core/items/summary-message.ts'
import { waitWithTimeout, TIMED_OUT } from '../../core/wait-with-timeout.ts'
import type { ActiveSummary } from '../history/loaded-history.ts'
import { hashSummaryPrefixes, type SummaryPrefix } from './hash-summary-prefixes.ts'
import { buildActiveSummary, findSummary } from './load-summary.ts'
import type { Ports } from '../dependencies-interface.ts'

export interface WrittenSummary extends SummaryContent {
  readonly border: SummaryPrefix
  /** How many items it stands for. */
  readonly items: number
  readonly tokensBefore: number
  readonly tokensAfter: number
  readonly model: string
  readonly promptVersion: number
  /** The one that it goes on from. */
  readonly before: ActiveSummary | null
}

export interface SummaryStorageOptions {
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
export async function saveSummary(
  told: SummarizableItems,
  written: WrittenSummary,
  keeping: SummaryStorageOptions,
  ports: Ports<'log' | 'newTurnId' | 'nowMs' | 'summaries'>,
): Promise<ActiveSummary> {
  const { border, before, ...words } = written
  const { caller, isKept, isPromised, isAnew, ...ties } = keeping
  const now = ports.nowMs()
  const summary = {
    ...words,
    ...ties,
    id: `sum_${ports.newTurnId()}`,
    tenant: caller.tenant,
    user: caller.user,
    prefixHash: border.hash,
    turns: border.turns,
    madeFrom: before?.id ?? null,
    generation: (before?.stored.generation ?? 0) + 1,
    createdAtMs: now,
    usedAtMs: now,
  }
  const own = buildActiveSummary(told, border, summary)
  if (!isKept) return own
  try {
    const saved = await waitWithTimeout(ports.summaries.saveSummary(summary, isAnew), PATIENCE_MS)
    if (saved === TIMED_OUT) throw new Error('It took too long.')
    if (saved) return own
    // Somebody was faster, or it was forgotten while it was written.
    return (await findSummary(told, hashSummaryPrefixes(told), caller, ports)) ?? own
  } catch (error) {
    if (isPromised) throw error
    ports.log('warn', 'summary-not-kept', { why: errorMessage(error) })
    return own
  }
}

/** Whoever waits for ever sums up nothing else. */
const PATIENCE_MS = 30_000
