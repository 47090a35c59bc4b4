/** Collects the whole body of a reply. Rejects with a GatewayError when it breaks or grows too big. */
import { joined } from '../conversation/bytes.ts'
import { isObject, type JsonObject, parsedJson } from '../conversation/json.ts'
import { failureOf, GatewayError } from '../errors.ts'
import type { Provider } from '../provider/provider.ts'
import type { Call, Reply } from './transport.ts'

export const MAX_ANSWER_BYTES = 256 * 1024 * 1024
const MAX_ERROR_BYTES = 1024 * 1024

export async function readJson(
  call: Call,
  reply: Reply,
): Promise<{ readonly bytes: Uint8Array; readonly json: JsonObject }> {
  const bytes = await readBody(call, reply, MAX_ANSWER_BYTES)
  const json = parsedJson(utf8.decode(bytes))
  if (isObject(json)) return { bytes, json }
  throw new GatewayError(NOT_JSON)
}

export const NOT_JSON = failureOf(
  'upstream_broken',
  'The upstream answered with something that is not JSON.',
)

export function tooLong(limitBytes: number): GatewayError {
  return new GatewayError('upstream_broken', `The upstream's answer is over ${limitBytes} bytes.`)
}

/** What an upstream's refusal means to the client: its status, its words, its retry headers. */
export async function refusalOf(
  call: Call,
  reply: Reply,
  provider: Provider,
): Promise<GatewayError> {
  const text = utf8.decode(await readBody(call, reply, MAX_ERROR_BYTES))
  const json = parsedJson(text)
  // A redirect is no answer either, and its status would mislead a client.
  const status = reply.status < 400 ? 502 : reply.status
  const failure = provider.failure(status, isObject(json) ? json : text)
  return new GatewayError(failure, failure.message, { headers: retryHeaders(reply.headers) })
}

export function readBody(call: Call, reply: Reply, limitBytes: number): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const chunks: Uint8Array[] = []
    let size = 0
    reply.flow({
      chunk(bytes) {
        chunks.push(bytes)
        size += bytes.length
        if (size <= limitBytes) return
        reject(tooLong(limitBytes))
        call.cancel()
      },
      end: () => resolve(joined(chunks)),
      failed: (failure) => reject(new GatewayError(failure)),
    })
  })
}

const utf8 = new TextDecoder()

const RETRY_HEADERS = /^(retry-after(-ms)?|x-should-retry|x-ratelimit-.+)$/

function retryHeaders(headers: Reply['headers']): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => RETRY_HEADERS.test(name)))
}
