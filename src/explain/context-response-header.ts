/**
 * Builds the value of the response header `x-backstory-context`, a summary of the explanation, e.g.
 * `policy=retain; items=12; sent=10; changed=1; added=0; dropped=2; tokens=5200; cached=4100`. The header
 * is sent only if the request has the header `x-backstory-explain: true`.
 */
import type { Caller } from '../core/client/caller.ts'
import { errorMessage } from '../core/errors/gateway-error.ts'
import { waitWithTimeout, TIMED_OUT } from '../core/async/wait-with-timeout.ts'
import type { PreparedRequest } from '../gateway/prompt/planned-request.ts'
import { buildHttpRequest } from '../gateway/send/build-http-request.ts'
import { explainPreparedRequest } from './build-explanation.ts'
import { loadPreviousRequest } from './load-previous-request.ts'
import { predictCacheHit } from './cache-miss/predict-cache-hit.ts'
import { decodeBodyText } from '../upstream/transport/decode-body-text.ts'
import type { ExplainHookPorts } from '../gateway/explain-hooks-interface.ts'

/** Request header; its value `true` requests the header `x-backstory-context` in the response. */
export const EXPLAIN_REQUEST_HEADER = 'x-backstory-explain'

/**
 * Returns the header value; null after an error, so that the client still gets its answer. `cached` is
 * `unknown` if the previous request was not stored, or if loading it takes more than 300 ms.
 */
export async function formatContextHeader(
  prepared: PreparedRequest,
  caller: Caller,
  ports: ExplainHookPorts,
): Promise<string | null> {
  try {
    const request = buildHttpRequest(prepared)
    const { summary, dispositions } = explainPreparedRequest(prepared, request, ports.settings)
    const loading = loadPreviousRequest(prepared, caller, ports)
    const loaded = await waitWithTimeout(loading, PREVIOUS_REQUEST_TIMEOUT_MS)
    const previous = loaded === TIMED_OUT ? undefined : loaded
    const cache = predictCacheHit(
      { summary, dispositions, body: decodeBodyText(request) },
      previous,
    )
    const count = (fate: string): number => dispositions.filter((item) => item.fate === fate).length
    return [
      `policy=${summary.policy.name}`,
      `items=${dispositions.length}`,
      `sent=${dispositions.length - count('dropped')}`,
      `changed=${count('changed') + count('moved')}`,
      `added=${count('added')}`,
      `dropped=${count('dropped')}`,
      `tokens=${summary.sent.estimated_tokens}`,
      `cached=${previous === undefined ? 'unknown' : cache.predicted_cached_tokens}`,
    ].join('; ')
  } catch (error) {
    ports.log('warn', 'context-not-told', { why: errorMessage(error) })
    return null
  }
}

const PREVIOUS_REQUEST_TIMEOUT_MS = 300
