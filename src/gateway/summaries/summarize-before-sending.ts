/**
 * Sums up a conversation before it is sent, if it would not fit its model otherwise. If that fails, or
 * takes too long, all stays as it was, and the request goes on as one without a summary.
 */
import type { SummaryCut } from '../../context/summaries/plan-and-parse-summary.ts'
import {
  selectSummarizableItems,
  type SummarizableItems,
} from '../../context/summaries/select-summarizable-items.ts'
import type { Caller } from '../../core/client/caller.ts'
import { errorMessage } from '../../core/errors/gateway-error.ts'
import { waitWithTimeout, TIMED_OUT } from '../../core/wait-with-timeout.ts'
import type { UpstreamCall } from '../../upstream/transport/transport-interface.ts'
import type { LoadedHistory } from '../history/loaded-history.ts'
import type { PreparedRequest } from '../prompt/planned-request.ts'
import type { SendOptions } from '../send/send-with-fallback.ts'
import { areSummariesEnabled } from './add-summary-to-history.ts'
import { decideSummaryBeforeSending } from './decide-when-to-summarize.ts'
import { makeAndSaveSummary } from './make-and-save-summary.ts'
import { createSummaryOptions } from './summarize-after-answer.ts'
import type { Ports } from '../dependencies-interface.ts'

/** What is to be summed up before it is sent, and up to where; `null` if nothing is. */
export function findSummaryBeforeSending(
  first: PreparedRequest,
): { told: SummarizableItems; cut: SummaryCut } | null {
  const { clientRequest, policy } = first
  if (!areSummariesEnabled(policy.summaries) || clientRequest.client.isTask) return null
  const told = selectSummarizableItems(first.items, policy)
  const cut = decideSummaryBeforeSending(first, told)
  return cut === null ? null : { told, cut }
}

/** The very same history if there is no need, or no summary. */
export async function summarizeBeforeSending(
  first: PreparedRequest,
  caller: Caller,
  asking: Pick<SendOptions, 'onCall' | 'isDisconnected'>,
  ports: Ports<
    | 'accounts'
    | 'facts'
    | 'log'
    | 'memoryLayers'
    | 'newTurnId'
    | 'nowMs'
    | 'settings'
    | 'summaries'
    | 'transport'
  >,
): Promise<LoadedHistory> {
  const { history } = first
  const due = findSummaryBeforeSending(first)
  if (due === null) return history
  const { told, cut } = due
  try {
    const made = await cancelAfterTimeout(
      (caring) =>
        makeAndSaveSummary(
          first,
          told,
          cut,
          { ...createSummaryOptions(first, caller), ...caring },
          ports,
        ),
      asking,
      ports.settings.SUMMARY_TIMEOUT_SECONDS * 1000,
    )
    return made === 'busy' ? history : { ...history, summary: made.summary }
  } catch (error) {
    if (asking.isDisconnected()) throw error
    ports.log('warn', 'not-summarised', { why: errorMessage(error) })
    return history
  }
}

type Caring = Pick<SendOptions, 'onCall' | 'isDisconnected'>

export async function cancelAfterTimeout<Value>(
  work: (caring: Caring) => Promise<Value>,
  { onCall, isDisconnected }: Caring,
  patienceMs: number,
): Promise<Value> {
  let newest: UpstreamCall | null = null
  let isLate = false
  const done = await waitWithTimeout(
    work({
      isDisconnected: () => isLate || isDisconnected(),
      onCall(call) {
        newest = call
        onCall(call)
        if (isLate) call.cancel()
      },
    }),
    patienceMs,
  )
  if (done !== TIMED_OUT) return done
  isLate = true
  ;(newest as UpstreamCall | null)?.cancel()
  throw new Error('It took too long.')
}
