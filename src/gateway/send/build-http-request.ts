/** Builds the HTTP request for an upstream. */
import { cachePerObject } from '../../core/caching/cache-per-object.ts'
import type { JsonObject } from '../../core/json/json.ts'
import { stringifyWellFormed } from '../../core/json/well-formed-json.ts'
import { createUpstreamHeaders } from '../../upstream/create-upstream-headers.ts'
import type { UpstreamRequest } from '../../upstream/transport/transport-interface.ts'
import type { PreparedRequest } from '../prompt/planned-request.ts'

export function buildHttpRequest({
  account,
  encoded,
}: Pick<PreparedRequest, 'account' | 'encoded'>): UpstreamRequest {
  const { body, bytes, path, headers } = encoded
  return {
    method: 'POST',
    url: account.baseUrl + path,
    headers: {
      ...createUpstreamHeaders(account, { 'content-type': 'application/json' }),
      ...headers,
    },
    body: bytes ?? serializeOnce(body),
  }
}

/** Serializes each body once: the text that is sent is also the text that explanations count and store. */
const serializeOnce = cachePerObject<JsonObject, string>(stringifyWellFormed)
