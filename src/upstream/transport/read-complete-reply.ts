/** Reads complete reply bodies as JSON or as an error. Throws if a body breaks off or is too large. */
import { createFailure, GatewayError } from '../../core/errors/gateway-error.ts'
import { isObject, type JsonObject, tryParseJson } from '../../core/json/json.ts'
import type { Failure } from '../../core/stream-event.ts'
import { concatBytes } from '../../core/stream/concat-bytes.ts'
import type { PushSource } from '../../core/stream/push-source-interface.ts'
import type { Account, Provider } from '../../providers/provider-interface.ts'
import { PROVIDERS } from '../../providers/provider-registry.ts'
import { attributeFailure } from '../errors/attribute-failure.ts'
import type { UpstreamCall, UpstreamReply } from './transport-interface.ts'

export const MAX_ANSWER_BYTES = 256 * 1024 * 1024
const MAX_ERROR_BYTES = 1024 * 1024

export async function readJsonBody(
  call: UpstreamCall,
  reply: UpstreamReply,
): Promise<{ readonly bytes: Uint8Array; readonly json: JsonObject }> {
  rejectContentEncoding(call, reply)
  const bytes = await readBody(createBodySource(call, reply), MAX_ANSWER_BYTES)
  const json = tryParseJson(utf8.decode(bytes))
  if (isObject(json)) return { bytes, json }
  throw new GatewayError(NOT_JSON_FAILURE)
}

export const NOT_JSON_FAILURE = createFailure(
  'upstream_broken',
  'The upstream answered with something that is not JSON.',
)

export function createBodyTooLargeError(limitBytes: number): GatewayError {
  return new GatewayError('upstream_broken', `The upstream's answer is over ${limitBytes} bytes.`)
}

export interface UpstreamRejection {
  /** The failure as the upstream reported it, which decides whether the request is sent in another form. */
  readonly reported: Failure
  /** The error for the client: it names the upstream, and has the upstream's retry headers. */
  readonly error: GatewayError
}

export async function readErrorReply(
  call: UpstreamCall,
  reply: UpstreamReply,
  account: Account,
): Promise<UpstreamRejection> {
  const bytes = await readBody(createBodySource(call, reply), MAX_ERROR_BYTES)
  const isError = reply.status >= 400 && reply.status <= 599
  const reported = isError
    ? parseFailure(reply, bytes, PROVIDERS[account.wire])
    : createUnexpectedStatusFailure(reply)
  const failure = attributeFailure(reported, account)
  const headers = {
    ...selectRetryHeaders(reply.headers),
    ...readUpstreamRequestId(reply.headers),
    // Otherwise, SDKs would retry because of the status 502.
    ...(failure.code === 'upstream_access_denied' ? { 'x-should-retry': 'false' } : {}),
  }
  return { reported, error: new GatewayError(failure, failure.message, { headers }) }
}

function parseFailure(reply: UpstreamReply, bytes: Uint8Array, provider: Provider): Failure {
  const encoding = readContentEncoding(reply)
  if (encoding !== null) {
    const message = `The upstream answered with status ${reply.status}, and in ${encoding}, which it was not asked for.`
    return { ...provider.parseErrorResponse(reply.status, ''), message }
  }
  const text = utf8.decode(bytes)
  const json = tryParseJson(text)
  return provider.parseErrorResponse(reply.status, isObject(json) ? json : text)
}

/**
 * Creates the failure for a status that is neither success nor error, e.g. a redirect. A redirect is
 * not returned to the client, because the client would follow it.
 */
function createUnexpectedStatusFailure({ status, headers }: UpstreamReply): Failure {
  // Removes the query of the location header, because it may contain a secret.
  const [location = ''] = (headers['location'] ?? '').split(/[?#]/)
  const explanation =
    location === ''
      ? 'which is neither an answer nor an error'
      : `a redirect to ${location.slice(0, MAX_LOCATION_CHARS)}, which is not followed`
  return createFailure(
    'upstream_broken',
    `The upstream answered with status ${status}, ${explanation}. Check its baseUrl.`,
  )
}

const MAX_LOCATION_CHARS = 300

export function createBodySource(
  { cancel }: UpstreamCall,
  { flow }: UpstreamReply,
): PushSource<Uint8Array> {
  return { flow, cancel }
}

export function readBody(body: PushSource<Uint8Array>, limitBytes: number): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const chunks: Uint8Array[] = []
    let size = 0
    body.flow({
      chunk(bytes) {
        chunks.push(bytes)
        size += bytes.length
        if (size <= limitBytes) return
        reject(createBodyTooLargeError(limitBytes))
        body.cancel()
      },
      end: () => resolve(concatBytes(chunks)),
      failed: (failure) => reject(new GatewayError(failure)),
    })
  })
}

const utf8 = new TextDecoder()

const RETRY_HEADERS = /^(retry-after(-ms)?|x-should-retry|x-ratelimit-.+)$/

/** The header with the upstream's own id of a request, which its operator can look up. */
const UPSTREAM_REQUEST_ID_HEADER = 'x-backstory-upstream-request'

/** Returns the header with the upstream's id; `{}` if the upstream sent none. Anthropic's header is `request-id`. */
export function readUpstreamRequestId(
  headers: UpstreamReply['headers'],
): Readonly<Record<string, string>> {
  const id = headers['x-request-id'] ?? headers['request-id']
  return id === undefined ? {} : { [UPSTREAM_REQUEST_ID_HEADER]: id }
}

function selectRetryHeaders(headers: UpstreamReply['headers']): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => RETRY_HEADERS.test(name)))
}

/**
 * Cancels the call and throws an error if the body is compressed. The request did not allow
 * compression, because the gateway does not decompress bodies. (The fetch transport removes the
 * header, because `fetch` decompresses.)
 */
export function rejectContentEncoding(call: UpstreamCall, reply: UpstreamReply): void {
  const encoding = readContentEncoding(reply)
  if (encoding === null) return
  call.cancel()
  throw new GatewayError(
    'upstream_broken',
    `The upstream sent its answer in ${encoding}, which it was not asked for. Have it send answers without a content-encoding.`,
  )
}

/** Returns the compression of a body, e.g. `gzip`; null if it is not compressed. */
function readContentEncoding({ headers }: UpstreamReply): string | null {
  const encoding = (headers['content-encoding'] ?? '').trim().toLowerCase()
  return encoding === '' || encoding === 'identity' ? null : encoding.slice(0, MAX_ENCODING_CHARS)
}

const MAX_ENCODING_CHARS = 40
