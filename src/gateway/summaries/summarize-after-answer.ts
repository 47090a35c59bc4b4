/**
 * Summarizes a conversation after an answer, if a summary is due. The client has its answer by then, so a
 * failure is only logged.
 */
import { selectSummarizableItems } from '../../context/summaries/select-summarizable-items.ts'
import type { Caller } from '../../core/client/caller.ts'
import { errorMessage } from '../../core/errors/gateway-error.ts'
import type { Item } from '../../core/item.ts'
import type { AnsweredRequest, AfterAnswerWork } from '../after-answer/run-tasks-after-answer.ts'
import type { Ports } from '../dependencies-interface.ts'
import {
  isTemporaryChat,
  mayStoreRequest,
} from '../history/memory-thread-and-storage-permission.ts'
import { DAY_MS } from '../history/touch-loaded-turns.ts'
import type { PreparedRequest, PlannedRequest } from '../prompt/planned-request.ts'
import { areSummariesEnabled } from './add-summary-to-history.ts'
import { decideSummaryAfterAnswer } from './decide-when-to-summarize.ts'
import {
  makeAndSaveSummary,
  type SummaryOptions,
  type SummaryPorts,
} from './make-and-save-summary.ts'
import { getLatestStoredTurn } from '../history/loaded-history.ts'

export function summarizeAfterAnswer(
  answered: AnsweredRequest,
  ports: SummaryPorts,
): AfterAnswerWork | null {
  const { policy, clientRequest } = answered.prepared
  // Task requests (titles, tags) are not part of the conversation, so they trigger no summary.
  if (!areSummariesEnabled(policy.summaries) || clientRequest.client.isTask) return null
  return async (outcome) => {
    try {
      const { finish, items } = await outcome
      // A failed or cancelled answer triggers no summary, because no later turn continues it.
      if (finish !== null) await summarizeIfDue(answered, items, ports)
    } catch (error) {
      ports.log('warn', 'not-summarised', { turn: answered.turnId, why: errorMessage(error) })
    }
  }
}

async function summarizeIfDue(
  { prepared, caller, turnId }: AnsweredRequest,
  answerItems: readonly Item[],
  ports: SummaryPorts,
): Promise<void> {
  await touchActiveSummary(prepared, caller, ports)
  const content = selectSummarizableItems([...prepared.items, ...answerItems], prepared.policy)
  const cut = decideSummaryAfterAnswer(prepared, content, answerItems)
  if (cut === null) return
  const options = { ...createSummaryOptions(prepared, caller), turnId }
  // A summary that may not be stored is not made, because no later request would find it.
  if (options.mayStore) await makeAndSaveSummary(prepared, content, cut, options, ports)
}

/** Updates the time of last use of the summary in the prompt, at most once a day, so that it does not expire. */
async function touchActiveSummary(
  { history }: PreparedRequest,
  { tenant, user }: Caller,
  { summaries, nowMs }: Ports<'nowMs' | 'summaries'>,
): Promise<void> {
  const { stored } = history.summary ?? {}
  if (stored === undefined || stored.usedAtMs > nowMs() - DAY_MS) return
  await summaries.touchSummary({ tenant, user }, stored.id, nowMs())
}

/** Creates the options for a summary. The callers override some of them. */
export function createSummaryOptions(
  { policy, clientRequest, history }: PlannedRequest,
  caller: Caller,
): SummaryOptions {
  const { model, focus } = policy.summaries
  const { storage, params } = clientRequest
  return {
    caller,
    turnId: null,
    parentTurnId: getLatestStoredTurn(history)?.id ?? null,
    conversationId: storage.conversationId,
    jobStartedAtMs: history.loadedAtMs,
    isTemporary: isTemporaryChat(clientRequest),
    mayStore: mayStoreRequest(clientRequest, history),
    mustBeStored: false,
    replacesExisting: false,
    model: model ?? params.model,
    focus,
    onCall: () => undefined,
    isDisconnected: () => false,
  }
}
