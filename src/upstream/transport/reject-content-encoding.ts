/**
 * Some upstreams pack their answers though they were not asked to. Nobody here unpacks them; where a
 * runtime does, its replies do not say so any more.
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

/** `null` for what can be read as it is. */
export function readContentEncoding({ headers }: UpstreamReply): string | null {
  const encoding = (headers['content-encoding'] ?? '').trim().toLowerCase()
  return encoding === '' || encoding === 'identity' ? null : encoding.slice(0, MAX_ENCODING_CHARS)
}

const MAX_ENCODING_CHARS = 40
