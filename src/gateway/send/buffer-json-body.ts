/** A whole answer that comes in pieces: gathered, and read when it is all there. */
import { joined } from '../../core/stream/concat-bytes.ts'
import { parsedObject, type JsonObject } from '../../core/json/json.ts'
import { MAX_ANSWER_BYTES, tooLong } from '../../upstream/transport/read-body.ts'

export interface GatheredJson {
  /** Throws a GatewayError when it grows too long. */
  readonly add: (chunk: Uint8Array) => void
  /** `null` if it is no JSON object. */
  readonly read: () => JsonObject | null
}

export function gatheredJson(): GatheredJson {
  const chunks: Uint8Array[] = []
  let size = 0
  return {
    add(chunk) {
      chunks.push(chunk)
      size += chunk.length
      if (size > MAX_ANSWER_BYTES) throw tooLong(MAX_ANSWER_BYTES)
    },
    read: () => parsedObject(new TextDecoder().decode(joined(chunks))),
  }
}
