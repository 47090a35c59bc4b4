/** A whole answer that comes in pieces: gathered, and read when it is all there. */
import { concatBytes } from '../../core/stream/concat-bytes.ts'
import { tryParseJsonObject, type JsonObject } from '../../core/json/json.ts'
import { MAX_ANSWER_BYTES, createBodyTooLargeError } from '../../upstream/transport/read-body.ts'

export interface JsonBodyBuffer {
  /** Throws a GatewayError when it grows too long. */
  readonly add: (chunk: Uint8Array) => void
  /** `null` if it is no JSON object. */
  readonly read: () => JsonObject | null
}

export function bufferJsonBody(): JsonBodyBuffer {
  const chunks: Uint8Array[] = []
  let size = 0
  return {
    add(chunk) {
      chunks.push(chunk)
      size += chunk.length
      if (size > MAX_ANSWER_BYTES) throw createBodyTooLargeError(MAX_ANSWER_BYTES)
    },
    read: () => tryParseJsonObject(new TextDecoder().decode(concatBytes(chunks))),
  }
}
