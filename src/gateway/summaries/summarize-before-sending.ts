/**
 * Summarizes a conversation before it is sent, if it does not fit the model's context window. If that fails or
 * takes longer than `SUMMARY_TIMEOUT_SECONDS`, the request is sent without a new summary.
 */
import type { SummaryCut } from '../../context/summaries/summary-cut-prompts-and-parser.ts'
import {
  selectSummarizableItems,
  type SummarizableItems,
} from '../../context/summaries/select-summarizable-items.ts'
import type { Caller } from '../../core/client/caller.ts'
import { errorMessage } from '../../core/errors/gateway-error.ts'
import { waitWithTimeout, TIMED_OUT } from '../../core/async/wait-with-timeout.ts'
import type { UpstreamCall } from '../../upstream/transport/transport-interface.ts'
import type { LoadedHistory } from '../history/loaded-history.ts'
import type { PreparedRequest } from '../prompt/planned-request.ts'
import type { SendOptions } from '../send/send-with-fallback.ts'
import { areSummariesEnabled } from './add-summary-to-history.ts'
import { decideSummaryBeforeSending } from './decide-when-to-summarize.ts'
import { makeAndSaveSummary, type SummaryPorts } from './make-and-save-summary.ts'
import { createSummaryOptions } from './summarize-after-answer.ts'

/** Returns the summarizable items and the cut in them; null if no summary is due. */
export function findSummaryBeforeSending(
  prepared: PreparedRequest,
): { readonly content: SummarizableItems; readonly cut: SummaryCut } | null {
  const { clientRequest, policy } = prepared
  if (!areSummariesEnabled(policy.summaries) || clientRequest.client.isTask) return null
  const content = selectSummarizableItems(prepared.items, policy)
  const cut = decideSummaryBeforeSending(prepared, content)
  return cut === null ? null : { content, cut }
}

/** Returns the history with the new summary; the same history object if no summary is due or can be made. */
export async function summarizeBeforeSending(
  prepared: PreparedRequest,
  caller: Caller,
  cancellation: CancellationOptions,
  ports: SummaryPorts,
): Promise<LoadedHistory> {
  const { history } = prepared
  const due = findSummaryBeforeSending(prepared)
  if (due === null) return history
  const { content, cut } = due
  const defaults = createSummaryOptions(prepared, caller)
  try {
    const made = await cancelAfterTimeout(
      (withTimeout) =>
        makeAndSaveSummary(prepared, content, cut, { ...defaults, ...withTimeout }, ports),
      cancellation,
      ports.settings.SUMMARY_TIMEOUT_SECONDS * 1000,
    )
    return made === 'busy' ? history : { ...history, summary: made.summary }
  } catch (error) {
    if (cancellation.isDisconnected()) throw error
    ports.log('warn', 'not-summarised', { why: errorMessage(error) })
    return history
  }
}

type CancellationOptions = Pick<SendOptions, 'onCall' | 'isDisconnected'>

/** Runs `work`. If it takes longer than `timeoutMs`, cancels its upstream call and throws. */
async function cancelAfterTimeout<Value>(
  work: (options: CancellationOptions) => Promise<Value>,
  { onCall, isDisconnected }: CancellationOptions,
  timeoutMs: number,
): Promise<Value> {
  let latestCall: UpstreamCall | null = null
  let isTimedOut = false
  const result = await waitWithTimeout(
    work({
      isDisconnected: () => isTimedOut || isDisconnected(),
      onCall(call) {
        latestCall = call
        onCall(call)
        if (isTimedOut) call.cancel()
      },
    }),
    timeoutMs,
  )
  if (result !== TIMED_OUT) return result
  isTimedOut = true
  ;(latestCall as UpstreamCall | null)?.cancel()
  throw new Error('It took too long.')
}
