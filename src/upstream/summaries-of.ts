/** All summaries that stand for a beginning of a conversation; the first is told, the others are not. */
import type { Caller } from '../conversation/caller.ts'
import { askMemory } from '../history/ask-memory.ts'
import { findSummaries, type ActiveSummary } from '../history/load-summary.ts'
import { summaryBorders } from '../history/summary-borders.ts'
import { toBeSummed } from '../rebuild/to-be-summed.ts'
import type { World } from '../world.ts'
import type { Planned } from './planned.ts'

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
