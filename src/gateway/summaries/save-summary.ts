/**
 * Stores a summary. If two replicas summarize the same prefix, both use the summary that is stored first, unless one
 * is to replace it.
 */
import type { SummarizableItems } from '../../context/summaries/select-summarizable-items.ts'
import type { Caller } from '../../core/client/caller.ts'
import { errorMessage } from '../../core/errors/gateway-error.ts'
import type { SummaryContent } from '../../core/items/summary-message.ts'
import { waitWithTimeout, TIMED_OUT } from '../../core/async/wait-with-timeout.ts'
import type { NewSummary } from '../../store/summaries/summary-store-interface.ts'
import type { ActiveSummary } from '../history/loaded-history.ts'
import { hashSummaryPrefixes, type SummaryPrefix } from './hash-summary-prefixes.ts'
import { buildActiveSummary, findSummary } from './load-summary.ts'
import type { Ports } from '../dependencies-interface.ts'

export interface WrittenSummary extends SummaryContent {
  readonly prefix: SummaryPrefix
  /** The number of items that the summary replaces. */
  readonly itemCount: number
  readonly tokensBefore: number
  readonly tokensAfter: number
  readonly model: string
  readonly promptVersion: number
  /** The summary that this one extends; null if it extends none. */
  readonly previous: ActiveSummary | null
}

export interface SummaryStorageOptions {
  readonly caller: Caller
  /** The turn after whose answer the summary is made; null for a summary before sending or on request. */
  readonly turnId: string | null
  /** The id of the latest stored turn before the answer. */
  readonly parentTurnId: string | null
  readonly conversationId: string | null
  /** The summary is not stored if its conversation or one of its turns was deleted after this time. */
  readonly jobStartedAtMs: number
  readonly isTemporary: boolean
  /** False if the client does not allow the gateway to store the summary. It is then used for this request only. */
  readonly mayStore: boolean
  /** True to throw if the summary cannot be stored. If false, an unstored summary is used for this request only. */
  readonly mustBeStored: boolean
  /** True to replace the stored summary of the same prefix, if there is one. */
  readonly replacesExisting: boolean
}

/** Returns the summary to use: the written one, or one that another replica has stored in the meantime. */
export async function saveSummary(
  content: SummarizableItems,
  written: WrittenSummary,
  options: SummaryStorageOptions,
  ports: Ports<'log' | 'newTurnId' | 'nowMs' | 'summaries'>,
): Promise<ActiveSummary> {
  const { prefix, previous, ...fields } = written
  const { caller, turnId, parentTurnId, conversationId, jobStartedAtMs, isTemporary } = options
  const now = ports.nowMs()
  const summary: NewSummary = {
    ...fields,
    turnId,
    parentTurnId,
    conversation: conversationId,
    jobStartedAtMs,
    isTemporary,
    id: `sum_${ports.newTurnId()}`,
    tenant: caller.tenant,
    user: caller.user,
    prefixHash: prefix.hash,
    roundCount: prefix.rounds,
    extendedSummaryId: previous?.id ?? null,
    generation: (previous?.stored.generation ?? 0) + 1,
    createdAtMs: now,
    usedAtMs: now,
  }
  const active = buildActiveSummary(content, prefix, summary)
  if (!options.mayStore) return active
  try {
    const saving = ports.summaries.saveSummary(summary, options.replacesExisting)
    const isSaved = await waitWithTimeout(saving, MAX_SAVE_MS)
    if (isSaved === TIMED_OUT) throw new Error('It took too long.')
    if (isSaved) return active
    // Not saved, because another replica has stored a summary, or the conversation was deleted.
    return (await findSummary(content, hashSummaryPrefixes(content), caller, ports)) ?? active
  } catch (error) {
    if (options.mustBeStored) throw error
    ports.log('warn', 'summary-not-kept', { why: errorMessage(error) })
    return active
  }
}

/** The maximum wait for the database, because this process makes no other summary of the conversation until then. */
const MAX_SAVE_MS = 30_000
