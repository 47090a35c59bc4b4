/** All summaries that stand for a beginning of a conversation; the first is told, the others are not. */
import type { Caller } from '../../core/client/caller.ts'
import { askMemory } from '../../store/query-store-or-throw.ts'
import { findSummaries, type ActiveSummary } from './load-summary.ts'
import { summaryBorders } from './hash-summary-prefixes.ts'
import { toBeSummed } from '../../context/summaries/select-summarizable-items.ts'
import type { World } from '../dependencies-interface.ts'
import type { Planned } from '../prompt/plan-request.ts'

export async function summariesOf(
  { items, policy }: Pick<Planned, 'items' | 'policy'>,
  caller: Caller,
  world: World,
): Promise<readonly ActiveSummary[]> {
  const told = toBeSummed(items, policy)
  const borders = summaryBorders(told)
  return askMemory(() => findSummaries(told, borders, caller, world, MOST_LISTED))
}

const MOST_LISTED = 1000
