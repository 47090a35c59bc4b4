/**
 * Loads the last upstream request of the previous answer in the conversation. Returns null if there is
 * no previous answer, and undefined if it is unknown or was not stored.
 */
import type { Caller } from '../core/client/caller.ts'
import { isModelItem } from '../core/items/is-model-item.ts'
import type { PreparedRequest } from '../gateway/prompt/planned-request.ts'
import {
  decodeSentRequest,
  type ExplanationContext,
  type PreviousRequest,
} from './render-explanation-json.ts'
import type { Ports } from '../gateway/dependencies-interface.ts'

export async function loadPreviousRequest(
  { history, items }: PreparedRequest,
  owner: Caller,
  world: Ports<'requests'>,
): Promise<ExplanationContext['previous']> {
  const parent = history.parent ?? history.recallResult?.parent ?? null
  if (parent !== null) return loadSentRequest(parent.id, owner, world)
  return items.some(isModelItem) ? undefined : null
}

/** Loads the request of one tool round of an answer; without `round`, the last request. */
export async function loadSentRequest(
  turnId: string,
  { tenant, user }: Caller,
  { requests }: Ports<'requests'>,
  round?: number,
): Promise<PreviousRequest | undefined> {
  const stored = await requests.loadRequest({ tenant, user }, turnId, round)
  const sent = stored === null ? null : decodeSentRequest(stored)
  if (stored === null || sent === null) return undefined
  return { ...sent, id: turnId, round: stored.round, rounds: stored.rounds }
}
