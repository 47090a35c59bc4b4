/**
 * Loads the stored summary that replaces the longest prefix of a conversation. The requests of one round (one
 * for each step of a tool loop) must use the same summary, so that the prompt's prefix stays the same. A summary
 * that was made during the round is therefore used from the next user message on.
 *
 * If the database fails or times out, the conversation is sent without a summary.
 */
import { listItemsReplacedBySummary } from '../../context/summaries/apply-summary.ts'
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
  /** The summary to use in this round; null if there is none. */
  readonly summary: ActiveSummary | null
  /** The summary of the longest prefix, if it was made after this round began. */
  readonly summaryForNextRound?: ActiveSummary
}

/** `answerStartedAtMs`: the start of the first answer in the latest round; null if it has none. */
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
  return summary === longest ? { summary } : { summary, summaryForNextRound: longest }
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

/** The number of summaries to load. More than one, because that of the longest prefix may be too recent to use. */
const MAX_CANDIDATES = 3

/** Returns at most `limit` summaries. The first is that of the longest prefix. */
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
    const prefix = prefixes.findLast(({ hash }) => hash === stored.prefixHash)
    return prefix === undefined ? [] : [buildActiveSummary(content, prefix, stored)]
  })
}

export function buildActiveSummary(
  content: SummarizableItems,
  prefix: SummaryPrefix,
  stored: StoredSummary,
): ActiveSummary {
  const { id, text, facts } = stored
  const { items, hiddenAuthors } = content
  return {
    id,
    text,
    facts,
    prefix,
    stored,
    hiddenAuthors: hiddenAuthors,
    replacedItems: listItemsReplacedBySummary(items, prefix.endIndex),
  }
}

/** The number of prefixes to look up, the longest first. A summary that leaves more than 2000 rounds saves little. */
const MAX_PREFIXES = 2_000

/** Lists the stored summaries of a conversation, that of the longest prefix first. Requests use only the first. */
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
