/** The history of a request with the summary that stands for its beginning, where summaries are wanted. */
import type { ContextPolicy, SummaryRules, Wishes } from '../conversation/policy.ts'
import type { Inbound } from '../dialect/dialect.ts'
import type { History } from '../history/load-history.ts'
import { loadSummary, type ActiveSummary } from '../history/load-summary.ts'
import type { Caller } from '../keys.ts'
import { toBeSummed } from '../rebuild/to-be-summed.ts'
import type { Settings } from '../settings.ts'
import type { World } from '../world.ts'
import { route } from './accounts.ts'
import { policyFor } from './policy-for.ts'

/** The very same history, and nothing is looked at, if nobody wants any. */
export async function withSummary(
  inbound: Inbound,
  history: History,
  caller: Caller,
  world: World,
): Promise<History> {
  if (inbound.client.isTask || !isMentioned(inbound, history, world.settings)) return history
  const targets = route(world, inbound.params.model, inbound.dialect)
  const policies = targets.map(({ model }) => policyFor(model, inbound, history, world.settings))
  const policy = policies.find(({ summaries }) => wantsSummaries(summaries))
  if (policy === undefined) return history
  const told = toBeSummed([...history.items, ...inbound.items], policy)
  const summary = await loadSummary(told, caller, world)
  return summary === null ? history : { ...history, summary }
}

/** No preset has any, and hardly any request asks for them: it is told without making a policy. */
function isMentioned(
  { wishes }: Pick<Inbound, 'wishes'>,
  history: Pick<History, 'wishes'>,
  { CONTEXT: { all, models } }: Settings,
): boolean {
  const saysSo = (said: Wishes | null): boolean => said?.summaries !== undefined
  return (
    saysSo(wishes) ||
    saysSo(all) ||
    history.wishes.some(saysSo) ||
    Object.values(models).some(saysSo)
  )
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
