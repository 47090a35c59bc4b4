/** Adds to a history the stored summary that replaces its beginning, if a policy turns summaries on. */
import { selectSummarizableItems } from '../../context/summaries/select-summarizable-items.ts'
import type { Caller } from '../../core/client/caller.ts'
import type { ContextPolicy, SummaryRules } from '../../core/context-policy.ts'
import type { LoadedHistory, ActiveSummary, RequestHistory } from '../history/loaded-history.ts'
import { loadSummary } from './load-summary.ts'
import type { Ports } from '../dependencies-interface.ts'

export interface SummaryLoadOptions extends Pick<RequestHistory, 'clientRequest' | 'history'> {
  readonly caller: Caller
}

/** Returns the same history if summaries are off or there is none. `policies`: one for each target. */
export async function addSummaryToHistory(
  { clientRequest, history, caller }: SummaryLoadOptions,
  policies: readonly ContextPolicy[],
  ports: Ports<'log' | 'summaries'>,
): Promise<LoadedHistory> {
  const policy = policies.find(({ summaries }) => areSummariesEnabled(summaries))
  if (policy === undefined) return history
  const content = selectSummarizableItems([...history.items, ...clientRequest.items], policy)
  const { answerStartedAtMs } = history
  const { summary, nextSummary } = await loadSummary(content, answerStartedAtMs, caller, ports)
  if (nextSummary !== undefined) return { ...history, summary, nextSummary }
  return summary === null ? history : { ...history, summary }
}

export function areSummariesEnabled({ trigger }: SummaryRules): boolean {
  return trigger !== 'off'
}

/** Returns null if summaries are off, or if the summary includes an author whom this policy hides. */
export function selectSummary(
  { summaries, speakers }: ContextPolicy,
  { summary }: LoadedHistory,
): ActiveSummary | null {
  if (summary === null || !areSummariesEnabled(summaries)) return null
  const includesHidden = speakers.hidden.some((author) => !summary.hidden.includes(author))
  return includesHidden ? null : summary
}
