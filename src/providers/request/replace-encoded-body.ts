import type { JsonObject } from '../../core/json/json.ts'
import type { EncodedRequest } from '../provider-interface.ts'

/**
 * Replaces the body of an encoded request. Removes the client's own bytes, because they no longer
 * mean the same as the body.
 */
export function replaceEncodedBody(encoded: EncodedRequest, body: JsonObject): EncodedRequest {
  const { bytes: _bytes, ...rest } = encoded
  return { ...rest, body }
}
