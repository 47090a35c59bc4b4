/**
 * Sums up a conversation after an answer was given, if it is time for that. It is nobody's business but
 * its own: no answer waits for it or fails of it, and if it fails, all stays as it was.
 */
import type { Caller } from '../../core/client/caller.ts'
import type { Item } from '../../core/item.ts'
import { messageOf } from '../../core/errors/gateway-error.ts'
import { DAY_MS } from '../history/touch-loaded-turns.ts'
import { mayBeKept } from '../history/memory-thread-and-storage-permission.ts'
import { toBeSummed } from '../../context/summaries/select-summarizable-items.ts'
import type { World } from '../dependencies-interface.ts'
import type { Answered, Following } from '../after-answer/run-after-answer.ts'
import { makeSummary, type SummaryWish } from './make-and-save-summary.ts'
import type { Planned } from '../prompt/plan-request.ts'
import type { Prepared } from '../prompt/prepare-request.ts'
import { summaryDue } from './decide-when-to-summarize.ts'
import { wantsSummaries } from './add-summary-to-history.ts'

export const summariseAfter: Following = (answered, world) => {
  const { policy, inbound } = answered.prepared
  // Housekeeping is no conversation.
  if (!wantsSummaries(policy.summaries) || inbound.client.isTask) return null
  return async (told) => {
    try {
      const { finish, items } = await told
      // What is not finished is not gone on from.
      if (finish !== null) await sumUp(answered, items, world)
    } catch (error) {
      world.log('warn', 'not-summarised', { turn: answered.turnId, why: messageOf(error) })
    }
  }
}

async function sumUp(
  { prepared, caller, turnId }: Answered,
  said: readonly Item[],
  world: World,
): Promise<void> {
  await keepActive(prepared, caller, world)
  const told = toBeSummed([...prepared.items, ...said], prepared.policy)
  const cut = summaryDue(prepared, told, said)
  if (cut === null) return
  const wish = { ...wishOf(prepared, caller), turn: turnId }
  // Who wants nothing kept has nothing kept.
  if (wish.isKept) await makeSummary(prepared, told, cut, wish, world)
}

/** That it is needed is said once a day. */
async function keepActive(
  { history }: Prepared,
  { tenant, user }: Caller,
  { summaries, nowMs }: World,
): Promise<void> {
  const { stored } = history.summary ?? {}
  if (stored === undefined || stored.usedAtMs > nowMs() - DAY_MS) return
  await summaries.touchSummary({ tenant, user }, stored.id, nowMs())
}

/** What a policy wants of a summary that nobody waits for. */
export function wishOf({ policy, inbound, history }: Planned, caller: Caller): SummaryWish {
  const { model, focus } = policy.summaries
  const { memory, client, params } = inbound
  return {
    caller,
    turn: null,
    parent: (history.parent ?? history.recollection?.newest)?.id ?? null,
    conversation: memory.conversationId,
    begunAtMs: history.askedAtMs,
    isTemporary: client.isTemporary && memory.store !== true,
    isKept: mayBeKept(inbound, history),
    isPromised: false,
    isAnew: false,
    model: model ?? params.model,
    focus,
    onCall: () => undefined,
    isGone: () => false,
  }
}
