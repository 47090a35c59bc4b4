/**
 * What a request came to, in one line for a header of its answer. Only for who asks for it; and it
 * never costs the answer, nor makes it wait for long.
 */
import type { Caller } from '../core/client/caller.ts'
import { errorMessage } from '../core/errors/gateway-error.ts'
import { waitWithTimeout, TIMED_OUT } from '../core/wait-with-timeout.ts'
import type { PreparedRequest } from '../gateway/prompt/planned-request.ts'
import { buildHttpRequest } from '../gateway/send/build-http-request.ts'
import { explainPreparedRequest } from './build-explanation.ts'
import { loadPreviousRequest } from './load-previous-request.ts'
import { predictCacheHit } from './render-explanation-json.ts'
import { requestBodyText } from './store-sent-requests.ts'
import type { AnswerHookPorts } from '../gateway/answer-hooks-interface.ts'

/** Who sends it as `true` is told in `x-backstory-context`. */
export const EXPLAIN_REQUEST_HEADER = 'x-backstory-explain'

export async function buildContextResponseHeader(
  prepared: PreparedRequest,
  owner: Caller,
  world: AnswerHookPorts,
): Promise<string | null> {
  try {
    const request = buildHttpRequest(prepared)
    const { about, fates } = explainPreparedRequest(prepared, request, world.settings)
    const found = await waitWithTimeout(loadPreviousRequest(prepared, owner, world), PATIENCE_MS)
    const previous = found === TIMED_OUT ? undefined : found
    const cache = predictCacheHit({ about, fates, body: requestBodyText(request) }, previous)
    const count = (fate: string): number => fates.filter((one) => one.fate === fate).length
    const said = [
      `policy=${about.policy.name}`,
      `items=${fates.length}`,
      `sent=${fates.length - count('dropped')}`,
      `changed=${count('changed') + count('moved')}`,
      `added=${count('added')}`,
      `dropped=${count('dropped')}`,
      `tokens=${about.sent.estimated_tokens}`,
      `cached=${previous === undefined ? 'unknown' : cache.predicted_cached_tokens}`,
    ]
    return said.join('; ')
  } catch (error) {
    world.log('warn', 'context-not-told', { why: errorMessage(error) })
    return null
  }
}

const PATIENCE_MS = 300
