import type { JsonObject } from '../../core/json/json.ts'
import type { Encoded } from '../provider-interface.ts'

/** The same request with another body, which is not the client's own any more. */
export function withBody(encoded: Encoded, body: JsonObject): Encoded {
  const { bytes: _bytes, ...rest } = encoded
  return { ...rest, body }
}
