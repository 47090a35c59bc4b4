/** The history of a request with the summary that stands for its beginning, where summaries are wanted. */
import { selectSummarizableItems } from '../../context/summaries/select-summarizable-items.ts'
import type { ClientRequest } from '../../core/client-request.ts'
import type { Caller } from '../../core/client/caller.ts'
import type { ContextPolicy, SummaryRules } from '../../core/context-policy.ts'
import { routeModel } from '../../upstream/accounts-and-model-routing.ts'
import type { LoadedHistory, ActiveSummary } from '../history/loaded-history.ts'
import { hasSummaryOrLayerOverride } from '../prompt/has-summary-or-layer-override.ts'
import { resolveRequestPolicy } from '../prompt/resolve-request-policy.ts'
import { loadSummary } from './load-summary.ts'
import type { Ports } from '../dependencies-interface.ts'

/** The very same history, and nothing is looked at, if nobody wants any. */
export async function addSummaryToHistory(
  clientRequest: ClientRequest,
  history: LoadedHistory,
  caller: Caller,
  ports: Ports<'accounts' | 'log' | 'settings' | 'summaries'>,
): Promise<LoadedHistory> {
  if (
    clientRequest.client.isTask ||
    !hasSummaryOrLayerOverride('summaries', { clientRequest, history }, ports.settings)
  )
    return history
  const targets = routeModel(ports, clientRequest.params.model, clientRequest.dialect)
  const policies = targets.map(({ model }) =>
    resolveRequestPolicy(model, { clientRequest, history }, ports.settings),
  )
  const policy = policies.find(({ summaries }) => areSummariesEnabled(summaries))
  if (policy === undefined) return history
  const told = selectSummarizableItems([...history.items, ...clientRequest.items], policy)
  const { summary, nextSummary } = await loadSummary(told, history.answerStartedAtMs, caller, ports)
  if (nextSummary !== undefined) return { ...history, summary, nextSummary }
  return summary === null ? history : { ...history, summary }
}

export function areSummariesEnabled({ trigger }: SummaryRules): boolean {
  return trigger !== 'off'
}

/** The summary as this policy wants it: not at all, or not if it tells of somebody who is hidden. */
export function selectSummary(
  { summaries, speakers }: ContextPolicy,
  { summary }: LoadedHistory,
): ActiveSummary | null {
  if (summary === null || !areSummariesEnabled(summaries)) return null
  const isTold = speakers.hidden.some((author) => !summary.hidden.includes(author))
  return isTold ? null : summary
}
