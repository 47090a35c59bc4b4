/**
 * The request that a conversation goes on from, as it was sent: the last that was sent for the answer
 * before. `null` where there is none before, and `undefined` where nobody knows: it was not kept, or its
 * client has not said which it was.
 */
import type { Caller } from '../core/client/caller.ts'
import { isModelItem } from '../core/items/is-model-item.ts'
import type { GatewayDependencies } from '../gateway/dependencies-interface.ts'
import type { PreparedRequest } from '../gateway/prompt/planned-request.ts'
import {
  decodeSentRequest,
  type ExplanationContext,
  type PreviousRequest,
} from './render-explanation-json.ts'

export async function loadPreviousRequest(
  { history, items }: PreparedRequest,
  owner: Caller,
  world: Pick<GatewayDependencies, 'requests'>,
): Promise<ExplanationContext['previous']> {
  const parent = history.parent ?? history.recallResult?.parent ?? null
  if (parent !== null) return loadSentRequest(parent.id, owner, world)
  return items.some(isModelItem) ? undefined : null
}

/** The last of an answer, or that of a round. */
export async function loadSentRequest(
  turnId: string,
  { tenant, user }: Caller,
  { requests }: Pick<GatewayDependencies, 'requests'>,
  round?: number,
): Promise<PreviousRequest | undefined> {
  const kept = await requests.loadRequest({ tenant, user }, turnId, round)
  const sent = kept === null ? null : decodeSentRequest(kept)
  if (kept === null || sent === null) return undefined
  return { ...sent, id: turnId, round: kept.round, rounds: kept.rounds }
}
