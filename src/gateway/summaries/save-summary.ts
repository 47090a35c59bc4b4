/**
 * Stores a summary in one statement. If two replicas summarize the same prefix, the summary that is stored
 * first is used by both.
 */
import type { SummarizableItems } from '../../context/summaries/select-summarizable-items.ts'
import type { Caller } from '../../core/client/caller.ts'
import { errorMessage } from '../../core/errors/gateway-error.ts'
import type { SummaryContent } from '../../core/items/summary-message.ts'
import { waitWithTimeout, TIMED_OUT } from '../../core/wait-with-timeout.ts'
import type { NewSummary } from '../../store/summaries/summary-store-interface.ts'
import type { ActiveSummary } from '../history/loaded-history.ts'
import { hashSummaryPrefixes, type SummaryPrefix } from './hash-summary-prefixes.ts'
import { buildActiveSummary, findSummary } from './load-summary.ts'
import type { Ports } from '../dependencies-interface.ts'

export interface WrittenSummary extends SummaryContent {
  readonly border: SummaryPrefix
  /** The number of items that the summary replaces. */
  readonly items: number
  readonly tokensBefore: number
  readonly tokensAfter: number
  readonly model: string
  readonly promptVersion: number
  /** The summary that this one extends. */
  readonly previous: ActiveSummary | null
}

export interface SummaryStorageOptions {
  readonly caller: Caller
  /** The turn after whose answer the summary is made; null if it is not made after an answer. */
  readonly turn: string | null
  /** The latest stored turn before the answer. */
  readonly parent: string | null
  readonly conversation: string | null
  /** If a summarized turn was deleted after this time, the summary is not stored. */
  readonly begunAtMs: number
  readonly isTemporary: boolean
  /** False if the client does not allow to store anything. */
  readonly mayStore: boolean
  /** True to throw if the summary cannot be stored; otherwise it is only used for this request. */
  readonly mustBeStored: boolean
  /** True to replace the stored summary of the same prefix, if there is one. */
  readonly replacesExisting: boolean
}

/** Resolves to the summary that is used from now on: this one, or one that was stored in the meantime. */
export async function saveSummary(
  content: SummarizableItems,
  written: WrittenSummary,
  options: SummaryStorageOptions,
  ports: Ports<'log' | 'newTurnId' | 'nowMs' | 'summaries'>,
): Promise<ActiveSummary> {
  const { border, previous, ...fields } = written
  const { caller, turn, parent, conversation, begunAtMs, isTemporary } = options
  const now = ports.nowMs()
  const summary: NewSummary = {
    ...fields,
    turn,
    parent,
    conversation,
    begunAtMs,
    isTemporary,
    id: `sum_${ports.newTurnId()}`,
    tenant: caller.tenant,
    user: caller.user,
    prefixHash: border.hash,
    turns: border.turns,
    madeFrom: previous?.id ?? null,
    generation: (previous?.stored.generation ?? 0) + 1,
    createdAtMs: now,
    usedAtMs: now,
  }
  const active = buildActiveSummary(content, border, summary)
  if (!options.mayStore) return active
  try {
    const saving = ports.summaries.saveSummary(summary, options.replacesExisting)
    const isSaved = await waitWithTimeout(saving, MAX_SAVE_MS)
    if (isSaved === TIMED_OUT) throw new Error('It took too long.')
    if (isSaved) return active
    // Another replica has stored a summary, or the conversation was deleted.
    return (await findSummary(content, hashSummaryPrefixes(content), caller, ports)) ?? active
  } catch (error) {
    if (options.mustBeStored) throw error
    ports.log('warn', 'summary-not-kept', { why: errorMessage(error) })
    return active
  }
}

/** Max wait for the database. Meanwhile the conversation is locked for other summaries of this process. */
const MAX_SAVE_MS = 30_000
