/** Limits the size of a body and counts its memory while it is read. */
import { GatewayError } from '../../core/errors/gateway-error.ts'
import type { RequestMemory } from '../../gateway/request-memory.ts'

/**
 * Claims the memory of a body whose size the client declares (`content-length`), before it is read. Returns a
 * function that takes the number of bytes read so far, and claims more if they exceed the declared size. Both throw
 * a GatewayError if the body is too large or too little memory is left.
 */
export function claimBodyMemory(
  declaredLength: string | null,
  limitBytes: number,
  claim: RequestMemory['claim'],
): (bytesSoFar: number) => void {
  let claimedBytes = 0
  const countBytes = (bytes: number): void => {
    if (bytes > limitBytes) throw createRequestTooLargeError(limitBytes)
    if (bytes <= Math.max(claimedBytes, UNCOUNTED_BYTES)) return
    claim({ bytes: bytes - claimedBytes })
    claimedBytes = bytes
  }
  countBytes(Number(declaredLength) || 0)
  return countBytes
}

/** Smaller bodies are not counted, because even many of them take little memory together. */
const UNCOUNTED_BYTES = 16_384

export function createRequestTooLargeError(limitBytes: number): GatewayError {
  const megabytes = Math.floor(limitBytes / 1024 / 1024)
  return new GatewayError(
    'request_too_large',
    `The request body is larger than ${megabytes} MB. Send less, or raise MAX_BODY_MB.`,
    // Closing the connection is cheaper than reading the rest of the body.
    { headers: { connection: 'close' } },
  )
}
