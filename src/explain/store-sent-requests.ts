/**
 * Keeps what was sent for an answer that is kept, round by round, so that it can be explained afterwards.
 * It is told and written when the client has heard the end; what fails is a line in the log and nothing
 * else.
 */
import { messageOf } from '../core/errors/gateway-error.ts'
import type {
  KeptRequest,
  SentRequest,
} from '../store/upstream-requests/upstream-request-store-interface.ts'
import type { UpstreamRequest } from '../upstream/transport/transport-interface.ts'
import type { Following } from '../gateway/after-answer/run-after-answer.ts'
import type { Prepared } from '../gateway/prompt/prepare-request.ts'
import { upstreamRequest } from '../gateway/send/build-http-request.ts'
import type { World } from '../gateway/dependencies-interface.ts'
import { explanationOf, factsOf } from './build-explanation.ts'
import { TOLD_BY_BODY, writtenFates } from './render-explanation-json.ts'
import { isToldByBody } from './explain-unchanged-request.ts'

export const keepSent: Following = ({ sent, caller, turnId, recorder }, world) => {
  const { kept } = recorder
  if (kept === null || world.settings.EXPLAIN_KEEP === 'off') return null
  const tell = async (told: Promise<unknown>): Promise<KeptRequest | null> => {
    await told
    const turn = await kept()
    if (turn === null) return null
    return { rounds: sent().map((prepared) => sentFor(prepared, world)), base: turn.parent }
  }
  return (told) =>
    world.requests
      .keepRequest(caller, turnId, () => tell(told))
      .catch((error: unknown) =>
        world.log('warn', 'request-not-kept', { turn: turnId, why: messageOf(error) }),
      )
}

export function sentFor(prepared: Prepared, { settings }: Pick<World, 'settings'>): SentRequest {
  const request = upstreamRequest(prepared)
  const body = textOf(request)
  if (isToldByBody(prepared)) {
    const about = JSON.stringify(factsOf(prepared, request, settings))
    return { body, items: TOLD_BY_BODY, about }
  }
  const { about, fates } = explanationOf(prepared, request, settings)
  return { body, items: writtenFates(fates), about: JSON.stringify(about) }
}

/** A client's own bytes are passed on as they are, and were read as this text. */
export function textOf({ body }: UpstreamRequest): string {
  return body instanceof Uint8Array ? decoder.decode(body) : (body ?? '')
}

const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
