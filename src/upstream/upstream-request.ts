/** What goes to an upstream, to the byte: the same text to whoever asks for it, written once. */
import type { JsonObject } from '../conversation/json.ts'
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
function writtenOnce(body: JsonObject): string {
  const known = WRITTEN.get(body)
  if (known !== undefined) return known
  const text = wellFormedJson(body)
  WRITTEN.set(body, text)
  return text
}

const WRITTEN = new WeakMap<JsonObject, string>()
