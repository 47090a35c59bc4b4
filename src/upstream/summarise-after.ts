/**
 * Sums up a conversation after an answer was given, if it is time for that. It is nobody's business but
 * its own: no answer waits for it or fails of it, and if it fails, all stays as it was.
 */
import type { Caller } from '../conversation/caller.ts'
import type { Item } from '../conversation/item.ts'
import { messageOf } from '../errors.ts'
import { DAY_MS } from '../history/keep-needed.ts'
import { mayBeKept } from '../history/memory-place.ts'
import { toBeSummed } from '../rebuild/to-be-summed.ts'
import type { World } from '../world.ts'
import type { Answered, Following } from './followed.ts'
import { makeSummary, type SummaryWish } from './make-summary.ts'
import type { Planned } from './planned.ts'
import type { Prepared } from './prepare.ts'
import { summaryDue } from './summary-due.ts'
import { wantsSummaries } from './with-summary.ts'

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
