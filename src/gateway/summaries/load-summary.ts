/**
 * Loads the stored summary that replaces the longest prefix of a conversation. All requests of a round (a tool loop
 * has several) must use the same summary, so that the prompt's prefix stays the same. A summary that was made during
 * the round is therefore used only from the next user message on.
 *
 * If the database fails or times out, the conversation is sent without a summary.
 */
import { listItemsReplacedBySummary } from '../../context/summaries/apply-summary.ts'
import {
  type SummarizableItems,
  selectSummarizableItems,
} from '../../context/summaries/select-summarizable-items.ts'
import type { UndecryptableRule } from '../../store/encryption/decrypt-rows.ts'
import type { Caller } from '../../core/client/caller.ts'
import { queryStoreOrThrow } from '../../store/query-store-or-throw.ts'
import type { StoredSummary } from '../../store/summaries/summary-store-interface.ts'
import type { Ports } from '../dependencies-interface.ts'
import type { ActiveSummary } from '../history/loaded-history.ts'
import { queryStoreOrNull } from '../history/query-store-or-null.ts'
import type { PlannedRequest } from '../prompt/planned-request.ts'
import { hashSummaryPrefixes, type SummaryPrefix } from './hash-summary-prefixes.ts'

export interface SummaryLookup {
  /** The summary to use in this round; null if there is none. */
  readonly summary: ActiveSummary | null
  /** The summary of the longest prefix, if it was made after this round began. */
  readonly summaryForNextRound?: ActiveSummary
}

/** `firstAnswerOfRoundAtMs`: the start of the latest round's first answer; null if it has none yet. */
export async function loadSummary(
  content: SummarizableItems,
  firstAnswerOfRoundAtMs: number | null,
  caller: Caller,
  ports: Ports<'summaries' | 'log'>,
): Promise<SummaryLookup> {
  const prefixes = hashSummaryPrefixes(content)
  if (prefixes.length === 0) return { summary: null }
  const query = () => findSummaries(content, prefixes, caller, ports, MAX_CANDIDATES)
  const found = await queryStoreOrNull(query, 'summary-not-loaded', ports.log)
  const [longest] = found ?? []
  if (found === null || longest === undefined) return { summary: null }
  const existed = ({ stored }: ActiveSummary): boolean =>
    firstAnswerOfRoundAtMs === null || stored.createdAtMs <= firstAnswerOfRoundAtMs
  const summary = found.find(existed) ?? null
  return summary === longest ? { summary } : { summary, summaryForNextRound: longest }
}

/** Returns the summary of the longest prefix; null if there is none. Throws if the database fails. */
export async function findSummary(
  content: SummarizableItems,
  prefixes: readonly SummaryPrefix[],
  caller: Caller,
  ports: Ports<'summaries'>,
): Promise<ActiveSummary | null> {
  const [longest] = await findSummaries(content, prefixes, caller, ports, MAX_CANDIDATES)
  return longest ?? null
}

/** The number of summaries to load: more than one, because the longest may have been made during this round. */
const MAX_CANDIDATES = 3

/** Returns at most `limit` summaries, that of the longest prefix first. */
async function findSummaries(
  content: SummarizableItems,
  prefixes: readonly SummaryPrefix[],
  { tenant, user }: Caller,
  { summaries }: Ports<'summaries'>,
  limit: number,
  rule: UndecryptableRule = 'leave-out',
): Promise<readonly ActiveSummary[]> {
  const hashes = prefixes.slice(-MAX_PREFIXES).map(({ hash }) => hash)
  const found = await summaries.findSummaries({ tenant, user }, hashes, limit, rule)
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
    hiddenAuthors,
    replacedItems: listItemsReplacedBySummary(items, prefix.endIndex),
  }
}

/**
 * The number of prefixes to look up, the longest first. A summary with more than 2000 later rounds would save
 * little.
 */
const MAX_PREFIXES = 2_000

/** Lists up to 1000 stored summaries of a conversation for a client, that of the longest prefix first. */
export async function listConversationSummaries(
  { items, policy }: Pick<PlannedRequest, 'items' | 'policy'>,
  caller: Caller,
  ports: Ports<'summaries'>,
): Promise<readonly ActiveSummary[]> {
  const content = selectSummarizableItems(items, policy)
  const prefixes = hashSummaryPrefixes(content)
  return queryStoreOrThrow(() =>
    findSummaries(content, prefixes, caller, ports, MAX_LISTED, 'fail'),
  )
}

const MAX_LISTED = 1000
