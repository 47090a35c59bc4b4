import type { JsonObject } from '../../core/json/json.ts'
import type { EncodedRequest } from '../provider-interface.ts'

/** The same request with another body, which is not the client's own any more. */
export function replaceRequestBody(encoded: EncodedRequest, body: JsonObject): EncodedRequest {
  const { bytes: _bytes, ...rest } = encoded
  return { ...rest, body }
}
