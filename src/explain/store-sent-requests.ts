/**
 * Stores the upstream requests of an answer, one per tool round, so that `explain` can show them later.
 * Runs after the client has received the complete answer, so a failure is only logged.
 */
import { errorMessage } from '../core/errors/gateway-error.ts'
import type { NewRequestRecord } from '../store/upstream-requests/upstream-request-store-interface.ts'
import { encodeSentRequest } from './encode-and-decode-sent-request.ts'
import type { AnswerHooks } from '../gateway/answer-hooks-interface.ts'

export const storeSentRequests: AnswerHooks['storeSentRequests'] = (
  { listSentRequests, caller, turnId, recorder },
  world,
) => {
  const { loadStoredParent } = recorder
  if (loadStoredParent === null || world.settings.EXPLAIN_KEEP === 'off') return null
  const buildRecord = async (ended: Promise<unknown>): Promise<NewRequestRecord | null> => {
    await ended
    const turn = await loadStoredParent()
    if (turn === null) return null
    return {
      rounds: listSentRequests().map((prepared) => encodeSentRequest(prepared, world)),
      baseTurnId: turn.parent,
    }
  }
  return (ended) =>
    world.requests
      .saveRequests(caller, turnId, () => buildRecord(ended))
      .catch((error: unknown) =>
        world.log('warn', 'request-not-kept', { turn: turnId, why: errorMessage(error) }),
      )
}
