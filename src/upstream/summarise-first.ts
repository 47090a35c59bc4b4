/**
 * Sums up a conversation before it is sent, if it would not fit its model otherwise. If that fails, or
 * takes too long, all stays as it was, and the request goes on as one without a summary.
 */
import { messageOf } from '../errors.ts'
import type { History } from '../history/load-history.ts'
import type { Caller } from '../keys.ts'
import { toBeSummed } from '../rebuild/to-be-summed.ts'
import type { World } from '../world.ts'
import type { Asking } from './attempts.ts'
import { makeSummary } from './make-summary.ts'
import type { Prepared } from './prepare.ts'
import { wishOf } from './summarise-after.ts'
import { summaryNeeded } from './summary-due.ts'
import { wantsSummaries } from './with-summary.ts'
import { withinPatience } from './within-patience.ts'

/** The very same history if there is no need, or no summary. */
export async function summariseFirst(
  first: Prepared,
  caller: Caller,
  asking: Pick<Asking, 'onCall' | 'isGone'>,
  world: World,
): Promise<History> {
  const { history, inbound, policy } = first
  if (!wantsSummaries(policy.summaries) || inbound.client.isTask) return history
  const told = toBeSummed(first.items, policy)
  const cut = summaryNeeded(first, told)
  if (cut === null) return history
  try {
    const made = await withinPatience(
      (caring) => makeSummary(first, told, cut, { ...wishOf(first, caller), ...caring }, world),
      asking,
      world.settings.SUMMARY_TIMEOUT_SECONDS * 1000,
    )
    return made === 'busy' ? history : { ...history, summary: made.summary }
  } catch (error) {
    if (asking.isGone()) throw error
    world.log('warn', 'not-summarised', { why: messageOf(error) })
    return history
  }
}
