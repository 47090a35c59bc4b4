/** Adds the stored summary to a history whose beginning it replaces, if a policy turns summaries on. */
import { selectSummarizableItems } from '../../context/summaries/select-summarizable-items.ts'
import type { Caller } from '../../core/client/caller.ts'
import type { ContextPolicy, SummaryRules } from '../../core/context-policy.ts'
import type { LoadedHistory, ActiveSummary, RequestHistory } from '../history/loaded-history.ts'
import { loadSummary } from './load-summary.ts'
import type { Ports } from '../dependencies-interface.ts'

export interface SummaryLoadOptions extends Pick<RequestHistory, 'clientRequest' | 'history'> {
  readonly caller: Caller
}

/**
 * Returns the same history object if no policy turns summaries on, or no summary is found. `policies`: one for
 * each target.
 */
export async function addSummaryToHistory(
  { clientRequest, history, caller }: SummaryLoadOptions,
  policies: readonly ContextPolicy[],
  ports: Ports<'log' | 'summaries'>,
): Promise<LoadedHistory> {
  const policy = policies.find(({ summaries }) => areSummariesEnabled(summaries))
  if (policy === undefined) return history
  const content = selectSummarizableItems([...history.items, ...clientRequest.items], policy)
  const { firstAnswerOfRoundAtMs } = history
  const found = await loadSummary(content, firstAnswerOfRoundAtMs, caller, ports)
  const isFound = found.summary !== null || found.summaryForNextRound !== undefined
  return isFound ? { ...history, ...found } : history
}

export function areSummariesEnabled({ trigger }: SummaryRules): boolean {
  return trigger !== 'off'
}

/**
 * Returns the history's summary; null if the policy turns summaries off, or hides an author whom the summary may
 * mention.
 */
export function selectSummary(
  { summaries, speakers }: ContextPolicy,
  { summary }: LoadedHistory,
): ActiveSummary | null {
  if (summary === null || !areSummariesEnabled(summaries)) return null
  const includesHidden = speakers.hidden.some((author) => !summary.hiddenAuthors.includes(author))
  return includesHidden ? null : summary
}
