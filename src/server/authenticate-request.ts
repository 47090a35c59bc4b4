/**
 * Authenticates an HTTP request: rejects web pages of other machines, finds the tenant by the API
 * key and identifies the user. The result has everything of the HTTP request that a route needs.
 */
import { identifyUser } from './clients/identify-user.ts'
import type { CorsHeaders } from './clients/cors.ts'
import type { Caller } from '../core/client/caller.ts'
import { GatewayError } from '../core/errors/gateway-error.ts'
import type { JsonObject } from '../core/json/json.ts'
import type { HttpExchange } from '../gateway/http-exchange-interface.ts'
import type { RequestMemory } from '../gateway/request-memory.ts'
import { createTenantAuthenticator, rejectForeignPages } from './authenticate-tenant.ts'
import { parseJsonObject, parseJsonValue, parseOptionalJsonObject } from './parse-json-body.ts'
import { releaseMemoryAtEnd } from './release-memory-at-end.ts'
import { REQUEST_ID_HEADER } from '../gateway/request-id.ts'
import { requestId } from '../core/turn-derived-ids.ts'
import type { Ports } from '../gateway/dependencies-interface.ts'

export interface AuthenticatedRequest {
  /** The id of the request. If a model generates its answer, the stored turn has the same id. */
  readonly turnId: string
  readonly caller: Caller
  /** True if a signed token names an administrator of Open WebUI, who may use data of all users of the key. */
  readonly isAdministrator: boolean
  readonly exchange: HttpExchange
  /** Counts the memory of the request. It is released after the answer. */
  readonly memory: RequestMemory
  /** Must be called when the handler of the route has returned or thrown. */
  readonly onHandled: () => void
  readonly method: string
  readonly url: string
  readonly headers: Headers
  readonly query: URLSearchParams
  /** Returns the part of the path that matched `:name` in the path of the route. */
  readonly getPathParameter: (name: string) => string
  readonly readBytes: () => Promise<Uint8Array>
  readonly readJsonObject: () => Promise<JsonObject>
  /** Reads a JSON object; resolves to `{}` if the request has no body. */
  readonly readOptionalJsonObject: () => Promise<JsonObject>
  /** Reads any JSON value, for example `null` or `"lean"`. */
  readonly readJsonValue: () => Promise<unknown>
}

export interface UnauthenticatedRequest extends Pick<
  AuthenticatedRequest,
  'exchange' | 'getPathParameter' | 'turnId'
> {
  readonly request: Request
  readonly corsHeaders: CorsHeaders | null
}

export interface RouteOptions {
  /**
   * False if the route neither reads nor stores conversation data. Such a route requires no signed
   * user.
   */
  readonly usesStoredData?: boolean
  /**
   * True if the route forwards the body unchanged. Only then may the body be compressed
   * (`content-encoding`).
   */
  readonly forwardsBody?: boolean
  /** True if an administrator may use the route for data of other users. */
  readonly servesAdministrators?: boolean
}

export function createRequestAuthenticator({
  settings,
  nowMs,
  requestMemory,
}: Ports<'nowMs' | 'requestMemory' | 'settings'>) {
  const authenticate = createTenantAuthenticator(settings.BACKSTORY_KEYS)
  const maxBytes = settings.MAX_BODY_MB * 1024 * 1024
  return (
    { request, exchange, turnId, corsHeaders, getPathParameter }: UnauthenticatedRequest,
    {
      usesStoredData = true,
      forwardsBody = false,
      servesAdministrators = false,
    }: RouteOptions = {},
  ): AuthenticatedRequest => {
    const { method, url, headers } = request
    rejectForeignPages(headers, settings.BACKSTORY_KEYS)
    const caller = authenticate(headers, exchange.isLocal)
    const user = identifyUser(headers, settings, {
      usesStoredData,
      servesAdministrators,
      nowMs: nowMs(),
    })
    const memory = requestMemory.trackRequest(caller.tenant)
    const limits = { memory, settings }
    const tracked = releaseMemoryAtEnd(exchange, memory)
    const readBytes = async (): Promise<Uint8Array> => {
      const bytes = await exchange.readBody(maxBytes, memory.claim)
      // Checks the content encoding after the body was read, because a connection with an unread
      // body cannot serve another request.
      if (!forwardsBody) rejectContentEncoding(headers.get('content-encoding'))
      return bytes
    }
    return {
      turnId,
      caller: user.id === null ? caller : { ...caller, user: user.id },
      isAdministrator: user.isAdministrator,
      exchange: addStreamHeaders(tracked.exchange, {
        ...corsHeaders,
        [REQUEST_ID_HEADER]: requestId(turnId),
      }),
      memory,
      onHandled: tracked.onHandled,
      method,
      url,
      headers,
      get query() {
        return new URL(url).searchParams
      },
      getPathParameter,
      readBytes,
      readJsonObject: async () => parseJsonObject(await readBytes(), limits),
      readOptionalJsonObject: async () => parseOptionalJsonObject(await readBytes(), limits),
      readJsonValue: async () => parseJsonValue(await readBytes(), limits),
    }
  }
}

/**
 * Adds headers to streamed answers and to the answer of an upgrade. On Node these are sent before a
 * middleware could add headers.
 */
function addStreamHeaders(
  exchange: HttpExchange,
  added: Readonly<Record<string, string>>,
): HttpExchange {
  const { upgradeToWebSocket } = exchange
  return {
    ...exchange,
    startStream: (status, headers, run) =>
      exchange.startStream(status, { ...headers, ...added }, run),
    ...(upgradeToWebSocket === undefined
      ? {}
      : { upgradeToWebSocket: (listen) => upgradeToWebSocket(listen, added) }),
  }
}

function rejectContentEncoding(header: string | null): void {
  const encoding = (header ?? '').trim().toLowerCase()
  if (encoding === '' || encoding === 'identity') return
  const message = `The body of your request is encoded as '${encoding.slice(0, 40)}'. Send it without a content-encoding.`
  throw new GatewayError('unsupported_content_encoding', message)
}
