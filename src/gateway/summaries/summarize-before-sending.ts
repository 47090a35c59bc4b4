/**
 * Sums up a conversation before it is sent, if it would not fit its model otherwise. If that fails, or
 * takes too long, all stays as it was, and the request goes on as one without a summary.
 */
import type { Caller } from '../../core/client/caller.ts'
import { messageOf } from '../../core/errors/gateway-error.ts'
import type { History } from '../history/load-history-by-id.ts'
import type { Cut } from '../../context/summaries/plan-and-parse-summary.ts'
import { toBeSummed, type ToBeSummed } from '../../context/summaries/select-summarizable-items.ts'
import type { World } from '../dependencies-interface.ts'
import type { Asking } from '../send/send-with-fallback.ts'
import { makeSummary } from './make-and-save-summary.ts'
import type { Prepared } from '../prompt/prepare-request.ts'
import { wishOf } from './summarize-after-answer.ts'
import { summaryNeeded } from './decide-when-to-summarize.ts'
import { wantsSummaries } from './add-summary-to-history.ts'
import { withinPatience } from './within-patience.ts'

/** What is to be summed up before it is sent, and up to where; `null` if nothing is. */
export function summaryFirst(first: Prepared): { told: ToBeSummed; cut: Cut } | null {
  const { inbound, policy } = first
  if (!wantsSummaries(policy.summaries) || inbound.client.isTask) return null
  const told = toBeSummed(first.items, policy)
  const cut = summaryNeeded(first, told)
  return cut === null ? null : { told, cut }
}

/** The very same history if there is no need, or no summary. */
export async function summariseFirst(
  first: Prepared,
  caller: Caller,
  asking: Pick<Asking, 'onCall' | 'isGone'>,
  world: World,
): Promise<History> {
  const { history } = first
  const due = summaryFirst(first)
  if (due === null) return history
  const { told, cut } = due
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
