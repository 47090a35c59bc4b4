/** All summaries that stand for a beginning of a conversation; the first is told, the others are not. */
import { selectSummarizableItems } from '../../context/summaries/select-summarizable-items.ts'
import type { Caller } from '../../core/client/caller.ts'
import { queryStoreOrThrow } from '../../store/query-store-or-throw.ts'
import type { ActiveSummary } from '../history/loaded-history.ts'
import type { PlannedRequest } from '../prompt/planned-request.ts'
import { hashSummaryPrefixes } from './hash-summary-prefixes.ts'
import { findSummaries } from './load-summary.ts'
import type { Ports } from '../dependencies-interface.ts'

export async function listConversationSummaries(
  { items, policy }: Pick<PlannedRequest, 'items' | 'policy'>,
  caller: Caller,
  ports: Ports<'summaries'>,
): Promise<readonly ActiveSummary[]> {
  const told = selectSummarizableItems(items, policy)
  const borders = hashSummaryPrefixes(told)
  return queryStoreOrThrow(() => findSummaries(told, borders, caller, ports, MOST_LISTED))
}

const MOST_LISTED = 1000
