/**
 * Stores the upstream requests of a stored answer, one per tool round, so that `explain` can show them
 * later. Runs after the client has received the end of the answer; a failure is only logged.
 */
import { errorMessage } from '../core/errors/gateway-error.ts'
import type { PreparedRequest } from '../gateway/prompt/planned-request.ts'
import { buildHttpRequest } from '../gateway/send/build-http-request.ts'
import type {
  NewRequestRecord,
  SentRequest,
} from '../store/upstream-requests/upstream-request-store-interface.ts'
import type { UpstreamRequest } from '../upstream/transport/transport-interface.ts'
import { explainPreparedRequest, collectRequestFacts } from './build-explanation.ts'
import { isUnchangedRequest } from './explain-unchanged-request.ts'
import { UNCHANGED_REQUEST, encodeDispositions } from './render-explanation-json.ts'
import type { AnswerHooks } from '../gateway/answer-hooks-interface.ts'
import type { Ports } from '../gateway/dependencies-interface.ts'

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
      base: turn.parent,
    }
  }
  return (ended) =>
    world.requests
      .keepRequest(caller, turnId, () => buildRecord(ended))
      .catch((error: unknown) =>
        world.log('warn', 'request-not-kept', { turn: turnId, why: errorMessage(error) }),
      )
}

export function encodeSentRequest(
  prepared: PreparedRequest,
  { settings }: Ports<'settings'>,
): SentRequest {
  const request = buildHttpRequest(prepared)
  const body = requestBodyText(request)
  if (isUnchangedRequest(prepared)) {
    const about = JSON.stringify(collectRequestFacts(prepared, request, settings))
    return { body, items: UNCHANGED_REQUEST, about }
  }
  const { about, fates } = explainPreparedRequest(prepared, request, settings)
  return { body, items: encodeDispositions(fates), about: JSON.stringify(about) }
}

/** Returns the body as text, also for bytes that are forwarded unchanged. */
export function requestBodyText({ body }: UpstreamRequest): string {
  return body instanceof Uint8Array ? decoder.decode(body) : (body ?? '')
}

const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
