/** The history of a request with the summary that stands for its beginning, where summaries are wanted. */
import type { Caller } from '../conversation/caller.ts'
import type { ContextPolicy, SummaryRules } from '../conversation/policy.ts'
import type { Inbound } from '../dialect/dialect.ts'
import type { History } from '../history/load-history.ts'
import { loadSummary, type ActiveSummary } from '../history/load-summary.ts'
import { toBeSummed } from '../rebuild/to-be-summed.ts'
import type { World } from '../world.ts'
import { route } from './accounts.ts'
import { isWished } from './is-wished.ts'
import { policyFor } from './policy-for.ts'

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
