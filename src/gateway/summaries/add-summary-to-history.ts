/** The history of a request with the summary that stands for its beginning, where summaries are wanted. */
import type { Caller } from '../../core/client/caller.ts'
import type { ContextPolicy, SummaryRules } from '../../core/context-policy.ts'
import type { Inbound } from '../../core/client-request.ts'
import type { History } from '../history/load-history-by-id.ts'
import { loadSummary, type ActiveSummary } from './load-summary.ts'
import { toBeSummed } from '../../context/summaries/select-summarizable-items.ts'
import type { World } from '../dependencies-interface.ts'
import { route } from '../../upstream/accounts-and-model-routing.ts'
import { isWished } from '../prompt/has-summary-or-layer-override.ts'
import { policyFor } from '../prompt/resolve-request-policy.ts'

/** The very same history, and nothing is looked at, if nobody wants any. */
export async function withSummary(
  inbound: Inbound,
  history: History,
  caller: Caller,
  world: World,
): Promise<History> {
  if (inbound.client.isTask || !isWished('summaries', { inbound, history }, world.settings))
    return history
  const targets = route(world, inbound.params.model, inbound.dialect)
  const policies = targets.map(({ model }) =>
    policyFor(model, { inbound, history }, world.settings),
  )
  const policy = policies.find(({ summaries }) => wantsSummaries(summaries))
  if (policy === undefined) return history
  const told = toBeSummed([...history.items, ...inbound.items], policy)
  const { summary, nextSummary } = await loadSummary(told, history.answeringSinceMs, caller, world)
  if (nextSummary !== undefined) return { ...history, summary, nextSummary }
  return summary === null ? history : { ...history, summary }
}

export function wantsSummaries({ trigger }: SummaryRules): boolean {
  return trigger !== 'off'
}

/** The summary as this policy wants it: not at all, or not if it tells of somebody who is hidden. */
export function summaryFor(
  { summaries, speakers }: ContextPolicy,
  { summary }: History,
): ActiveSummary | null {
  if (summary === null || !wantsSummaries(summaries)) return null
  const isTold = speakers.hidden.some((author) => !summary.hidden.includes(author))
  return isTold ? null : summary
}
