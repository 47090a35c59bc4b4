/**
 * Rejects compressed replies, which some upstreams send although the gateway does not accept them.
 * The gateway does not decompress bodies. The fetch transport removes the header, because `fetch`
 * has decompressed the body.
 */
import { GatewayError } from '../../core/errors/gateway-error.ts'
import type { UpstreamCall, UpstreamReply } from './transport-interface.ts'

export function rejectContentEncoding(call: UpstreamCall, reply: UpstreamReply): void {
  const encoding = readContentEncoding(reply)
  if (encoding === null) return
  call.cancel()
  throw new GatewayError(
    'upstream_broken',
    `The upstream sent its answer in ${encoding}, which it was not asked for. Have it send answers without a content-encoding.`,
  )
}

/** Returns the encoding of a body; null if it is not compressed. */
export function readContentEncoding({ headers }: UpstreamReply): string | null {
  const encoding = (headers['content-encoding'] ?? '').trim().toLowerCase()
  return encoding === '' || encoding === 'identity' ? null : encoding.slice(0, MAX_ENCODING_CHARS)
}

const MAX_ENCODING_CHARS = 40
