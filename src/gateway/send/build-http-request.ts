/** Builds the HTTP request that is sent to an upstream: URL, headers and body. */
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

/** Serializes each body only once, because explanations measure and store the same text as is sent. */
const serializeOnce = cachePerObject<JsonObject, string>(stringifyWellFormed)
