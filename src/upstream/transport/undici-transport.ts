/**
 * Sends upstream requests on Node with undici's `dispatch`. `fetch` with its Web Streams would take
 * twice as much time for each chunk of an answer as all other processing.
 */
import type { Dispatcher } from 'undici'
import Agent from 'undici/lib/dispatcher/agent.js'
import type { Failure } from '../../core/stream-event.ts'
import { createFailure, GatewayError } from '../../core/errors/gateway-error.ts'
import type { FlowControl, PushSink } from '../../core/stream/push-source-interface.ts'
import {
  CONNECTION_BROKEN_FAILURE,
  IDLE_TIMEOUT_FAILURE,
  type UpstreamCall,
  type UpstreamReply,
  type TransportTimeouts,
  type Transport,
} from './transport-interface.ts'

export function createUndiciTransport(timeouts: TransportTimeouts): {
  readonly transport: Transport
  readonly close: () => Promise<void>
} {
  const agent = new Agent({
    connect: { timeout: 10_000 },
    headersTimeout: timeouts.headersMs,
    bodyTimeout: timeouts.idleMs,
    maxHeaderSize: MAX_HEADERS_KB * 1024,
    // Only one request at a time on a connection, so that no answer waits for the end of another.
    pipelining: 1,
    // Long enough for a user to read an answer and ask again without a new TLS handshake.
    keepAliveTimeout: KEEP_ALIVE_MS,
  })
  const transport: Transport = (request) => {
    const pathAt = request.url.indexOf('/', 'https://'.length)
    return dispatch(agent, {
      origin: request.url.slice(0, pathAt),
      path: request.url.slice(pathAt),
      method: request.method,
      headers: request.headers,
      body: request.body,
    })
  }
  return { transport, close: () => agent.destroy() }
}

/** Maximum size of the headers of a reply; Node has the same limit. */
const MAX_HEADERS_KB = 16

/**
 * Time for which an unused connection stays open, unless the upstream sends its own time,
 * `keep-alive: timeout=…`.
 */
const KEEP_ALIVE_MS = 60_000

function dispatch(agent: Agent, options: Agent.DispatchOptions): UpstreamCall {
  let controller: Dispatcher.DispatchController | null = null
  let isCancelled = false
  const reply = new Promise<UpstreamReply>((resolve, reject) => {
    const send = (isRetry: boolean): void => {
      const body = createBufferedSink(() => controller)
      const sentAtMs = performance.now()
      let hasReply = false
      agent.dispatch(options, {
        onRequestStart(started) {
          controller = started
          if (isCancelled) started.abort(new Error('cancelled'))
        },
        onResponseStart(_, status, headers) {
          // Ignores the statuses 100 to 199, because the final response follows.
          if (status < 200) return
          hasReply = true
          resolve({ status, headers: joinHeaderValues(headers), flow: body.flow })
        },
        onResponseData: (_, chunk) => body.chunk(chunk),
        onResponseEnd: () => body.end(),
        onResponseError(_, error) {
          if (hasReply) return body.failed(createBrokenFailure(error))
          if (isCancelled) return reject(createCancelledError())
          if (!isRetry && wasStaleConnection(error, performance.now() - sentAtMs)) return send(true)
          reject(createUnreachableError(error))
        },
      })
    }
    send(false)
  })
  return {
    reply,
    cancel() {
      isCancelled = true
      controller?.abort(new Error('cancelled'))
    },
  }
}

/**
 * True if the error means that the upstream closed an idle connection at the moment when the
 * request was sent. Then the upstream has not read the request, so it can be sent again.
 */
function wasStaleConnection(error: Error, afterMs: number): boolean {
  const { code, socket } = error as {
    readonly code?: unknown
    readonly socket?: { readonly bytesRead?: number }
  }
  // A stale connection fails at once. Before a later failure, the upstream may have read the request.
  if (afterMs > MAX_STALE_FAILURE_MS) return false
  // If bytes were read from the connection, it was used before this request, which has no reply
  // yet.
  if (code === 'UND_ERR_SOCKET') return (socket?.bytesRead ?? 0) > 0
  // Node's own socket errors have no field `socket` to check.
  return code === 'ECONNRESET' || code === 'EPIPE'
}

const MAX_STALE_FAILURE_MS = 1000

/** Buffers the events of a body until `flow` is called, and pauses the upstream until then. */
function createBufferedSink(controller: () => Dispatcher.DispatchController | null) {
  let sink: PushSink | null = null
  let isPaused = false
  const buffered: ((sink: PushSink) => void)[] = []
  const pass = (event: (sink: PushSink) => void): void => {
    if (sink !== null) return event(sink)
    buffered.push(event)
    controller()?.pause()
  }
  const attach = (to: PushSink): void => {
    sink = to
    for (const event of buffered) event(to)
    if (buffered.length > 0 && !isPaused) controller()?.resume()
  }
  return {
    chunk: (bytes: Uint8Array) =>
      sink === null ? pass((to) => to.chunk(bytes)) : sink.chunk(bytes),
    end: () => pass((to) => to.end()),
    failed: (failure: Failure) => pass((to) => to.failed(failure)),
    flow: (to: PushSink): FlowControl => {
      // Attaches the sink only in a microtask, so that `flow` has returned before the first event.
      queueMicrotask(() => attach(to))
      return {
        pause() {
          isPaused = true
          controller()?.pause()
        },
        resume() {
          isPaused = false
          controller()?.resume()
        },
      }
    },
  }
}

function joinHeaderValues(
  headers: Record<string, string | string[] | undefined>,
): Readonly<Record<string, string>> {
  const flat: Record<string, string> = {}
  for (const name in headers) {
    const value = headers[name]
    if (value !== undefined) flat[name] = typeof value === 'string' ? value : value.join(', ')
  }
  return flat
}

function readErrorCode(error: Error): string {
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name
}

/** The error code of undici for a request that was open when the gateway stopped. */
const AGENT_DESTROYED = 'UND_ERR_DESTROYED'
const STOPPED_MESSAGE = 'The gateway was stopped before this answer was complete. Ask again.'

function createBrokenFailure(error: Error): Failure {
  const code = readErrorCode(error)
  if (code === AGENT_DESTROYED) return createFailure('gateway_stopped', STOPPED_MESSAGE)
  return code === 'UND_ERR_BODY_TIMEOUT' ? IDLE_TIMEOUT_FAILURE : CONNECTION_BROKEN_FAILURE
}

function createUnreachableError(error: Error): GatewayError {
  const code = readErrorCode(error)
  if (code === AGENT_DESTROYED)
    return new GatewayError('gateway_stopped', STOPPED_MESSAGE, { cause: error })
  if (code === 'UND_ERR_HEADERS_TIMEOUT') {
    return new GatewayError('upstream_timeout', 'The upstream did not answer in time.', {
      cause: error,
    })
  }
  const message = MESSAGES_BY_CODE[code]
  if (message !== undefined) return new GatewayError('upstream_broken', message, { cause: error })
  return new GatewayError(
    'upstream_unreachable',
    `The upstream could not be reached (${code}). Check its baseUrl and that it is running.`,
    { cause: error },
  )
}

/** Messages for errors for which the usual advice, to check the baseUrl, would be wrong. */
const MESSAGES_BY_CODE: Readonly<Partial<Record<string, string>>> = {
  UND_ERR_HEADERS_OVERFLOW: `The upstream's answer has more than ${MAX_HEADERS_KB} KB of headers, which is more than is read here.`,
  UND_ERR_INVALID_ARG:
    'The upstream cannot be asked: what its request would have as address or headers is not allowed in HTTP.',
}

function createCancelledError(): GatewayError {
  return new GatewayError(
    'upstream_unreachable',
    'The client went away before the upstream answered.',
    {
      status: 499,
    },
  )
}
