/**
 * Loads the summary for a conversation: the one that replaces the longest prefix. Within a round with tool
 * calls the prefix must not change, so a summary that was made after the round's first answer started is
 * used only from the next question on.
 *
 * If the database fails or times out, the conversation is sent without a summary.
 */
import { listCoveredItems } from '../../context/summaries/apply-summary.ts'
import {
  type SummarizableItems,
  selectSummarizableItems,
} from '../../context/summaries/select-summarizable-items.ts'
import type { Caller } from '../../core/client/caller.ts'
import { queryStoreOrThrow } from '../../store/query-store-or-throw.ts'
import type { StoredSummary } from '../../store/summaries/summary-store-interface.ts'
import type { Ports } from '../dependencies-interface.ts'
import type { ActiveSummary } from '../history/loaded-history.ts'
import { queryWithTimeout } from '../history/query-with-timeout.ts'
import type { PlannedRequest } from '../prompt/planned-request.ts'
import { hashSummaryPrefixes, type SummaryPrefix } from './hash-summary-prefixes.ts'

export interface SummaryLookup {
  readonly summary: ActiveSummary | null
  /** The summary of the longest prefix, if it may not be used in this round. */
  readonly nextSummary?: ActiveSummary
}

/** `answerStartedAtMs`: when the first answer to the latest question started; null if there is none. */
export async function loadSummary(
  content: SummarizableItems,
  answerStartedAtMs: number | null,
  caller: Caller,
  ports: Ports<'summaries' | 'log'>,
): Promise<SummaryLookup> {
  const prefixes = hashSummaryPrefixes(content)
  if (prefixes.length === 0) return { summary: null }
  const found = await queryWithTimeout(
    () => findSummaries(content, prefixes, caller, ports, MAX_CANDIDATES),
    'summary-not-loaded',
    ports.log,
  )
  const [longest] = found ?? []
  if (found === null || longest === undefined) return { summary: null }
  const existed = ({ stored }: ActiveSummary): boolean =>
    answerStartedAtMs === null || stored.createdAtMs <= answerStartedAtMs
  const summary = found.find(existed) ?? null
  return summary === longest ? { summary } : { summary, nextSummary: longest }
}

/** Returns the summary of the longest prefix. Throws if the database fails. */
export async function findSummary(
  content: SummarizableItems,
  prefixes: readonly SummaryPrefix[],
  caller: Caller,
  ports: Ports<'summaries'>,
): Promise<ActiveSummary | null> {
  const [longest] = await findSummaries(content, prefixes, caller, ports, MAX_CANDIDATES)
  return longest ?? null
}

/** Number of summaries to load: the longest may be too recent for this round, or impossible to decrypt. */
const MAX_CANDIDATES = 3

/** Returns at most `limit` summaries, that of the longest prefix first. */
async function findSummaries(
  content: SummarizableItems,
  prefixes: readonly SummaryPrefix[],
  { tenant, user }: Caller,
  { summaries }: Ports<'summaries'>,
  limit: number,
): Promise<readonly ActiveSummary[]> {
  const hashes = prefixes.slice(-MAX_PREFIXES).map(({ hash }) => hash)
  const found = await summaries.findSummaries({ tenant, user }, hashes, limit)
  return found.flatMap((stored) => {
    const border = prefixes.findLast(({ hash }) => hash === stored.prefixHash)
    return border === undefined ? [] : [buildActiveSummary(content, border, stored)]
  })
}

export function buildActiveSummary(
  content: SummarizableItems,
  border: SummaryPrefix,
  stored: StoredSummary,
): ActiveSummary {
  const { id, text, facts } = stored
  const { items, hidden } = content
  return { id, text, facts, border, stored, hidden, covered: listCoveredItems(items, border.at) }
}

/** Max prefixes in one query. A summary with more than 2000 rounds after its border would save little. */
const MAX_PREFIXES = 2_000

/** Lists the summaries of all prefixes of a conversation, longest first; only the first is in use. */
export async function listConversationSummaries(
  { items, policy }: Pick<PlannedRequest, 'items' | 'policy'>,
  caller: Caller,
  ports: Ports<'summaries'>,
): Promise<readonly ActiveSummary[]> {
  const content = selectSummarizableItems(items, policy)
  const prefixes = hashSummaryPrefixes(content)
  return queryStoreOrThrow(() => findSummaries(content, prefixes, caller, ports, MAX_LISTED))
}

const MAX_LISTED = 1000
