/** Collects the whole body of a reply. Rejects with a GatewayError when it breaks or grows too big. */
import { joined } from '../../core/stream/concat-bytes.ts'
import type { Failure } from '../../core/stream-event.ts'
import { isObject, type JsonObject, parsedJson } from '../../core/json/json.ts'
import { failureOf, GatewayError } from '../../core/errors/gateway-error.ts'
import type { Provider } from '../../providers/provider-interface.ts'
import type { Source } from '../../core/stream/push-source.ts'
import { encodingOf, refuseEncoded } from './reject-content-encoding.ts'
import type { Call, Reply } from './transport-interface.ts'

export const MAX_ANSWER_BYTES = 256 * 1024 * 1024
const MAX_ERROR_BYTES = 1024 * 1024

export async function readJson(
  call: Call,
  reply: Reply,
): Promise<{ readonly bytes: Uint8Array; readonly json: JsonObject }> {
  refuseEncoded(call, reply)
  const bytes = await readBody(bodyOf(call, reply), MAX_ANSWER_BYTES)
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
  const bytes = await readBody(bodyOf(call, reply), MAX_ERROR_BYTES)
  if (reply.status < 400 || reply.status > 599) return neither(reply)
  const failure = failureIn(reply, bytes, provider)
  return new GatewayError(failure, failure.message, { headers: retryHeaders(reply.headers) })
}

function failureIn(reply: Reply, bytes: Uint8Array, provider: Provider): Failure {
  const encoding = encodingOf(reply)
  if (encoding !== null) {
    const message = `The upstream answered with status ${reply.status}, and in ${encoding}, which it was not asked for.`
    return { ...provider.failure(reply.status, ''), message }
  }
  const text = utf8.decode(bytes)
  const json = parsedJson(text)
  return provider.failure(reply.status, isObject(json) ? json : text)
}

/** Neither an answer nor an error, as a redirect: its status would mislead a client. */
function neither({ status, headers }: Reply): GatewayError {
  // What stands behind the path may be a secret.
  const [place = ''] = (headers['location'] ?? '').split(/[?#]/)
  const what =
    place === ''
      ? 'which is neither an answer nor an error'
      : `a redirect to ${place.slice(0, MAX_PLACE_CHARS)}, which is not followed`
  return new GatewayError(
    'upstream_broken',
    `The upstream answered with status ${status}, ${what}. Check its baseUrl.`,
  )
}

const MAX_PLACE_CHARS = 300

export function bodyOf({ cancel }: Call, { flow }: Reply): Source<Uint8Array> {
  return { flow, cancel }
}

export function readBody(body: Source<Uint8Array>, limitBytes: number): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const chunks: Uint8Array[] = []
    let size = 0
    body.flow({
      chunk(bytes) {
        chunks.push(bytes)
        size += bytes.length
        if (size <= limitBytes) return
        reject(tooLong(limitBytes))
        body.cancel()
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
