/**
 * Loads a stored upstream request of an earlier answer. An explanation compares a request with it to
 * predict how much the provider has cached.
 */
import type { UndecryptableRule } from '../store/encryption/decrypt-rows.ts'
import type { Caller } from '../core/client/caller.ts'
import { isItemOfAnswer } from '../core/items/is-item-of-answer.ts'
import type { PreparedRequest } from '../gateway/prompt/planned-request.ts'
import { decodeSentRequest, type ExplainedRequest } from './encode-and-decode-sent-request.ts'
import type { Ports } from '../gateway/dependencies-interface.ts'

/** One upstream request of an earlier answer. An answer has one request for each of its tool rounds. */
export interface PreviousRequest extends ExplainedRequest {
  readonly turnId: string
  readonly round: number
  readonly roundCount: number
}

/**
 * Loads the last upstream request of the previous answer in the conversation. Resolves to null if there is
 * no previous answer, and to undefined if that answer is unknown or its request was not stored.
 */
export async function loadPreviousRequest(
  { history, items }: PreparedRequest,
  caller: Caller,
  ports: Ports<'requests'>,
): Promise<PreviousRequest | null | undefined> {
  const parent = history.parent ?? history.recallResult?.parentOfNewTurn ?? null
  if (parent !== null) return loadSentRequest(parent.id, caller, ports)
  return items.some(isItemOfAnswer) ? undefined : null
}

/**
 * Loads the upstream request of one tool round of an answer, by default of the last one. By default, a request that
 * cannot be decrypted counts as not stored.
 */
export async function loadSentRequest(
  turnId: string,
  { tenant, user }: Caller,
  { requests }: Ports<'requests'>,
  round?: number,
  rule?: UndecryptableRule,
): Promise<PreviousRequest | undefined> {
  const stored = await requests.loadRequest({ tenant, user }, turnId, round, rule)
  const sent = stored === null ? null : decodeSentRequest(stored)
  if (stored === null || sent === null) return undefined
  return { ...sent, turnId, round: stored.round, roundCount: stored.roundCount }
}
