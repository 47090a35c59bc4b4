/** What goes to an upstream, to the byte: the same text to whoever asks for it, written once. */
import type { JsonObject } from '../conversation/json.ts'
import { oncePerObject } from '../conversation/once-per-object.ts'
import { wellFormedJson } from '../conversation/well-formed-json.ts'
import type { UpstreamRequest } from '../transport/transport.ts'
import type { Prepared } from './prepare.ts'

export function upstreamRequest({
  account,
  provider,
  encoded,
}: Pick<Prepared, 'account' | 'provider' | 'encoded'>): UpstreamRequest {
  const { body, bytes, path, headers } = encoded
  return {
    method: 'POST',
    url: account.baseUrl + path,
    headers: {
      'content-type': 'application/json',
      ...provider.headers(account),
      ...account.headers,
      ...headers,
    },
    body: bytes ?? writtenOnce(body),
  }
}

/** What is sent is what is explained afterwards, to the byte. */
const writtenOnce = oncePerObject<JsonObject, string>(wellFormedJson)
