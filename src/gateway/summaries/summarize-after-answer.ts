/**
 * Sums up a conversation after an answer was given, if it is time for that. It is nobody's business but
 * its own: no answer waits for it or fails of it, and if it fails, all stays as it was.
 */
import { selectSummarizableItems } from '../../context/summaries/select-summarizable-items.ts'
import type { Caller } from '../../core/client/caller.ts'
import { errorMessage } from '../../core/errors/gateway-error.ts'
import type { Item } from '../../core/item.ts'
import type { AnsweredRequest, AfterAnswerWork } from '../after-answer/answered-request.ts'
import { mayStoreRequest } from '../history/memory-thread-and-storage-permission.ts'
import { DAY_MS } from '../history/touch-loaded-turns.ts'
import type { PreparedRequest, PlannedRequest } from '../prompt/planned-request.ts'
import { areSummariesEnabled } from './add-summary-to-history.ts'
import { decideSummaryAfterAnswer } from './decide-when-to-summarize.ts'
import { makeAndSaveSummary, type SummaryOptions } from './make-and-save-summary.ts'
import type { Ports } from '../dependencies-interface.ts'

export function summarizeAfterAnswer(
  answered: AnsweredRequest,
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
): AfterAnswerWork | null {
  const { policy, clientRequest } = answered.prepared
  // Housekeeping is no conversation.
  if (!areSummariesEnabled(policy.summaries) || clientRequest.client.isTask) return null
  return async (told) => {
    try {
      const { finish, items } = await told
      // What is not finished is not gone on from.
      if (finish !== null) await sumUp(answered, items, ports)
    } catch (error) {
      ports.log('warn', 'not-summarised', { turn: answered.turnId, why: errorMessage(error) })
    }
  }
}

async function sumUp(
  { prepared, caller, turnId }: AnsweredRequest,
  said: readonly Item[],
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
): Promise<void> {
  await keepActive(prepared, caller, ports)
  const told = selectSummarizableItems([...prepared.items, ...said], prepared.policy)
  const cut = decideSummaryAfterAnswer(prepared, told, said)
  if (cut === null) return
  const wish = { ...createSummaryOptions(prepared, caller), turn: turnId }
  // Who wants nothing kept has nothing kept.
  if (wish.isKept) await makeAndSaveSummary(prepared, told, cut, wish, ports)
}

/** That it is needed is said once a day. */
async function keepActive(
  { history }: PreparedRequest,
  { tenant, user }: Caller,
  { summaries, nowMs }: Ports<'nowMs' | 'summaries'>,
): Promise<void> {
  const { stored } = history.summary ?? {}
  if (stored === undefined || stored.usedAtMs > nowMs() - DAY_MS) return
  await summaries.touchSummary({ tenant, user }, stored.id, nowMs())
}

/** What a policy wants of a summary that nobody waits for. */
export function createSummaryOptions(
  { policy, clientRequest, history }: PlannedRequest,
  caller: Caller,
): SummaryOptions {
  const { model, focus } = policy.summaries
  const { storage, client, params } = clientRequest
  return {
    caller,
    turn: null,
    parent: (history.parent ?? history.recallResult?.latestTurn)?.id ?? null,
    conversation: storage.conversationId,
    begunAtMs: history.loadedAtMs,
    isTemporary: client.isTemporary && storage.store !== true,
    isKept: mayStoreRequest(clientRequest, history),
    isPromised: false,
    isAnew: false,
    model: model ?? params.model,
    focus,
    onCall: () => undefined,
    isDisconnected: () => false,
  }
}
