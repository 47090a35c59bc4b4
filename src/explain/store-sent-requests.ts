/**
 * Stores the upstream requests of an answer, one per tool round, for later use by `explain`. A failure is
 * only logged, because the client has already received the complete answer.
 */
import { errorMessage } from '../core/errors/gateway-error.ts'
import { measureLargeItems } from '../core/items/serialize-and-measure-item.ts'
import type {
  NewRequestRecord,
  SentRequest,
} from '../store/upstream-requests/upstream-request-store-interface.ts'
import { encodeSentRequest } from './encode-and-decode-sent-request.ts'
import type { ExplainHooks } from '../gateway/explain-hooks-interface.ts'

export const storeSentRequests: ExplainHooks['storeSentRequests'] = (
  { listSentRequests, caller, turnId, recorder },
  ports,
) => {
  const { loadStoredParent } = recorder
  if (loadStoredParent === null || ports.settings.EXPLAIN_KEEP === 'off') return null
  const buildRecord = async (ended: Promise<unknown>): Promise<NewRequestRecord | null> => {
    await ended
    const turn = await loadStoredParent()
    if (turn === null) return null
    const requests: SentRequest[] = []
    for (const prepared of listSentRequests()) {
      await measureLargeItems([...prepared.items, ...prepared.prompt.items])
      requests.push(encodeSentRequest(prepared, ports))
    }
    return { requests, baseTurnId: turn.parent }
  }
  return (ended) =>
    ports.requests
      .saveRequests(caller, turnId, () => buildRecord(ended))
      .catch((error: unknown) =>
        ports.log('warn', 'request-not-kept', { turn: turnId, why: errorMessage(error) }),
      )
}
