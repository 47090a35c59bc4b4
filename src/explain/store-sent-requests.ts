/**
 * Keeps what was sent for an answer that is kept, round by round, so that it can be explained afterwards.
 * It is told and written when the client has heard the end; what fails is a line in the log and nothing
 * else.
 */
import { errorMessage } from '../core/errors/gateway-error.ts'
import type { GatewayDependencies } from '../gateway/dependencies-interface.ts'
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

export const storeSentRequests: AnswerHooks['storeSentRequests'] = (
  { sent, caller, turnId, recorder },
  world,
) => {
  const { loadStoredParent } = recorder
  if (loadStoredParent === null || world.settings.EXPLAIN_KEEP === 'off') return null
  const tell = async (told: Promise<unknown>): Promise<NewRequestRecord | null> => {
    await told
    const turn = await loadStoredParent()
    if (turn === null) return null
    return {
      rounds: sent().map((prepared) => encodeSentRequest(prepared, world)),
      base: turn.parent,
    }
  }
  return (told) =>
    world.requests
      .keepRequest(caller, turnId, () => tell(told))
      .catch((error: unknown) =>
        world.log('warn', 'request-not-kept', { turn: turnId, why: errorMessage(error) }),
      )
}

export function encodeSentRequest(
  prepared: PreparedRequest,
  { settings }: Pick<GatewayDependencies, 'settings'>,
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

/** A client's own bytes are passed on as they are, and were read as this text. */
export function requestBodyText({ body }: UpstreamRequest): string {
  return body instanceof Uint8Array ? decoder.decode(body) : (body ?? '')
}

const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
