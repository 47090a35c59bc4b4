/** Decodes the body of a request to an upstream, which is bytes if a client's body is forwarded or if it is large. */
import type { UpstreamRequest } from './transport-interface.ts'

export function decodeBodyText({ body }: Pick<UpstreamRequest, 'body'>): string {
  return body instanceof Uint8Array ? decoder.decode(body) : (body ?? '')
}

const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
