/**
 * The request that a conversation goes on from, as it was sent: the last that was sent for the answer
 * before. `null` where there is none before, and `undefined` where nobody knows: it was not kept, or its
 * client has not said which it was.
 */
import { isOfModel } from '../core/items/is-model-item.ts'
import type { Caller } from '../core/client/caller.ts'
import type { Prepared } from '../gateway/prompt/prepare-request.ts'
import type { World } from '../gateway/dependencies-interface.ts'
import { readSent, type More, type SentBefore } from './render-explanation-json.ts'

export async function previousSent(
  { history, items }: Prepared,
  owner: Caller,
  world: Pick<World, 'requests'>,
): Promise<More['previous']> {
  const parent = history.parent ?? history.recollection?.parent ?? null
  if (parent !== null) return sentFor(parent.id, owner, world)
  return items.some(isOfModel) ? undefined : null
}

/** The last of an answer, or that of a round. */
export async function sentFor(
  turnId: string,
  { tenant, user }: Caller,
  { requests }: Pick<World, 'requests'>,
  round?: number,
): Promise<SentBefore | undefined> {
  const kept = await requests.loadRequest({ tenant, user }, turnId, round)
  const sent = kept === null ? null : readSent(kept)
  if (kept === null || sent === null) return undefined
  return { ...sent, id: turnId, round: kept.round, rounds: kept.rounds }
}
