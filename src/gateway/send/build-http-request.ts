/** Builds the HTTP request that is sent to an upstream: URL, headers and body. */
import { encodeJsonInSteps, isLargeJson } from '../../core/json/encode-json-in-steps.ts'
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

/** Serializes a large body in steps, between which other requests are served. `buildHttpRequest` then finds the result. */
export async function serializeLargeBody({
  encoded: { body, bytes },
}: Pick<PreparedRequest, 'encoded'>): Promise<void> {
  if (bytes !== undefined || SERIALIZED.has(body) || !isLargeJson(body)) return
  SERIALIZED.set(body, await encodeJsonInSteps(body))
}

function serializeOnce(body: JsonObject): string | Uint8Array {
  const serialized = SERIALIZED.get(body) ?? stringifyWellFormed(body)
  SERIALIZED.set(body, serialized)
  return serialized
}

/** Each body is serialized only once, because explanations measure and store the same text as is sent. */
const SERIALIZED = new WeakMap<JsonObject, string | Uint8Array>()
