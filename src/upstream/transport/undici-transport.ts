/**
 * Sends upstream requests on Node with undici's `dispatch`. `fetch` with its Web Streams would take
 * twice as much time for each chunk of an answer as all other processing.
 */
import type { Dispatcher } from 'undici'
import Agent from 'undici/lib/dispatcher/agent.js'
import type { Failure } from '../../core/stream-event.ts'
import { createFailure, GatewayError } from '../../core/errors/gateway-error.ts'
import { createBufferedSink } from '../../core/stream/create-buffered-sink.ts'
import {
  CONNECTION_BROKEN_FAILURE,
  createConnectionBrokenError,
  createUnansweredTimeoutError,
  IDLE_TIMEOUT_FAILURE,
  MaybeProcessedError,
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
 * Time for which an unused connection stays open. If the upstream announces its own time, e.g.
 * `keep-alive: timeout=5`, undici closes the connection 2 s before. 55 s is below the 60 s or more after which load
 * balancers close connections, because a request that is sent while the upstream closes the connection fails.
 */
const KEEP_ALIVE_MS = 55_000

function dispatch(agent: Agent, options: Agent.DispatchOptions): UpstreamCall {
  let controller: Dispatcher.DispatchController | null = null
  let isCancelled = false
  const reply = new Promise<UpstreamReply>((resolve, reject) => {
    const body = createBufferedSink({
      pause: () => controller?.pause(),
      resume: () => controller?.resume(),
    })
    let wasSent = false
    let hasReply = false
    let missingBytes = Infinity
    const dispatchOnce = (attempt: number): void => {
      agent.dispatch(options, {
        // undici calls this before it writes the request. If an idle connection turns out to be closed before that,
        // undici opens another one by itself.
        onRequestStart(started) {
          controller = started
          wasSent = !isCancelled
          if (isCancelled) started.abort(new Error('cancelled'))
        },
        onResponseStart(started, status, headers) {
          // After 101, another protocol would follow. undici reports this error only if the reply names it.
          if (status === 101) return started.abort(new Error('bad upgrade'))
          // Ignores the other statuses below 200, because the final response follows.
          if (status < 200) return
          hasReply = true
          missingBytes = Number(headers['content-length'] ?? Infinity)
          resolve({ status, headers: joinHeaderValues(headers), flow: body.flow })
        },
        onResponseData(started, chunk) {
          body.chunk(chunk)
          missingBytes -= chunk.length
          // Ends a pause at the last byte. Otherwise undici would not notice that the body is complete, and would
          // report it as broken if the upstream then closes the connection.
          if (missingBytes === 0) started.resume()
        },
        onResponseEnd() {
          // The connection may serve another request now, which this call must not pause or resume.
          controller = null
          body.end()
        },
        onResponseError(_, error) {
          controller = null
          if (hasReply) return body.failed(createBrokenFailure(error))
          if (isCancelled) return reject(createCancelledError(wasSent))
          if (wasSent) return reject(createUnansweredError(error))
          if (attempt < MAX_ATTEMPTS && wasIdleConnectionReset(error))
            return dispatchOnce(attempt + 1)
          reject(createUnreachableError(error))
        },
      })
    }
    dispatchOnce(1)
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
 * True if the upstream reset an idle connection for which undici had reserved the request. The request was not written
 * to it. (If the upstream closes the connection without a reset, undici opens another one by itself.)
 */
function wasIdleConnectionReset(error: Error): boolean {
  return ['ECONNRESET', 'EPIPE'].includes(readErrorCode(error))
}

/** Maximum number of connections that are tried for a request. When an upstream restarts, it may reset several. */
const MAX_ATTEMPTS = 5

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

/** Creates the error of a request that was not written to a connection. */
function createUnreachableError(error: Error): GatewayError {
  const code = readErrorCode(error)
  if (code === AGENT_DESTROYED)
    return new GatewayError('gateway_stopped', STOPPED_MESSAGE, { cause: error })
  if (code === 'UND_ERR_INVALID_ARG')
    return new GatewayError('upstream_broken', INVALID_REQUEST_MESSAGE, { cause: error })
  return new GatewayError(
    'upstream_unreachable',
    `The upstream could not be reached (${code}). Check its baseUrl and that it is running.`,
    { cause: error },
  )
}

const INVALID_REQUEST_MESSAGE =
  'The request cannot be sent to the upstream: its address or one of its headers is not allowed in HTTP.'

/** Creates the error of a request that was sent, and to which no final response arrived. */
function createUnansweredError(error: Error): MaybeProcessedError {
  const code = readErrorCode(error)
  const cause = { cause: error }
  if (code === AGENT_DESTROYED)
    return new MaybeProcessedError('gateway_stopped', STOPPED_MESSAGE, cause)
  if (code === 'UND_ERR_HEADERS_TIMEOUT') return createUnansweredTimeoutError(error)
  if (code === 'UND_ERR_HEADERS_OVERFLOW')
    return new MaybeProcessedError('upstream_broken', HEADERS_OVERFLOW_MESSAGE, cause)
  const interimStatus = UNREQUESTED_STATUSES[error.message]
  return interimStatus === undefined
    ? createConnectionBrokenError(code, error)
    : new MaybeProcessedError(
        'upstream_broken',
        `The upstream sent the interim status ${interimStatus}, which the request did not ask for, so its answer could not be read. The request was not sent again.`,
        cause,
      )
}

const HEADERS_OVERFLOW_MESSAGE = `The upstream's answer has more than ${MAX_HEADERS_KB} KB of headers, which is more than the gateway reads.`

/**
 * Interim statuses at which undici closes the connection, by the message of its error. Clients may ignore 100, but
 * undici has no option for that.
 */
const UNREQUESTED_STATUSES: Readonly<Partial<Record<string, number>>> = {
  'bad response': 100,
  'bad upgrade': 101,
}

function createCancelledError(wasSent: boolean): GatewayError {
  const ErrorOfOutcome = wasSent ? MaybeProcessedError : GatewayError
  return new ErrorOfOutcome(
    'upstream_unreachable',
    'The client disconnected before the upstream answered.',
    {
      status: 499,
    },
  )
}
