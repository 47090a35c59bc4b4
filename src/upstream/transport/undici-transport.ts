/**
 * The upstream over undici's dispatch: no fetch and no Web Streams, which cost twice as much on
 * Node as everything else that happens to a chunk.
 */
import type { Dispatcher } from 'undici'
import Agent from 'undici/lib/dispatcher/agent.js'
import type { Failure } from '../../core/stream-event.ts'
import { createFailure, GatewayError } from '../../core/errors/gateway-error.ts'
import type { FlowControl, PushSink } from '../../core/stream/push-source.ts'
import type {
  UpstreamCall,
  UpstreamReply,
  TransportTimeouts,
  Transport,
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
    // As many connections as there are streams: an answer must not wait for another to end.
    pipelining: 1,
    // Whoever reads an answer before asking again is not to wait for TCP and TLS each time.
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

/** As Node has it. */
const MAX_HEADERS_KB = 16

/** For how long a connection is kept that nobody uses, where the upstream does not say for how long. */
const KEEP_ALIVE_MS = 60_000

function dispatch(agent: Agent, options: Agent.DispatchOptions): UpstreamCall {
  let controller: Dispatcher.DispatchController | null = null
  let cancelled = false
  const reply = new Promise<UpstreamReply>((resolve, reject) => {
    const send = (isAgain: boolean): void => {
      const body = createBufferedSink(() => controller)
      const sentAtMs = performance.now()
      let answered = false
      agent.dispatch(options, {
        onRequestStart(started) {
          controller = started
          if (cancelled) started.abort(new Error('cancelled'))
        },
        onResponseStart(_, status, headers) {
          // An interim answer (100 to 199) is not the answer.
          if (status < 200) return
          answered = true
          resolve({ status, headers: joinHeaderValues(headers), flow: body.flow })
        },
        onResponseData: (_, chunk) => body.chunk(chunk),
        onResponseEnd: () => body.end(),
        onResponseError(_, error) {
          if (answered) return body.failed(createBrokenFailure(error))
          if (cancelled) return reject(createCancelledError())
          if (!isAgain && wasStaleConnection(error, performance.now() - sentAtMs)) return send(true)
          reject(createUnreachableError(error))
        },
      })
    }
    send(false)
  })
  return {
    reply,
    cancel() {
      cancelled = true
      controller?.abort(new Error('cancelled'))
    },
  }
}

/**
 * An upstream may close a connection that was idle in the very moment in which it is asked again. Then
 * it has not heard the question, which is sent once more.
 */
function wasStaleConnection(error: Error, afterMs: number): boolean {
  const { code, socket } = error as {
    readonly code?: unknown
    readonly socket?: { readonly bytesRead?: number }
  }
  // It is told at once; who breaks off later may have thought about the question.
  if (afterMs > MAX_STALE_FAILURE_MS) return false
  // Of this question nothing was answered, so what was read answered one before.
  if (code === 'UND_ERR_SOCKET') return (socket?.bytesRead ?? 0) > 0
  // These do not say what they know of their connection.
  return code === 'ECONNRESET' || code === 'EPIPE'
}

const MAX_STALE_FAILURE_MS = 1000

/** Keeps what arrives before anybody listens, and holds the sender back meanwhile. */
function createBufferedSink(controller: () => Dispatcher.DispatchController | null) {
  let sink: PushSink | null = null
  let isPaused = false
  const early: ((sink: PushSink) => void)[] = []
  const pass = (event: (sink: PushSink) => void): void => {
    if (sink !== null) return event(sink)
    early.push(event)
    controller()?.pause()
  }
  const attach = (to: PushSink): void => {
    sink = to
    for (const event of early) event(to)
    if (early.length > 0 && !isPaused) controller()?.resume()
  }
  return {
    chunk: (bytes: Uint8Array) =>
      sink === null ? pass((to) => to.chunk(bytes)) : sink.chunk(bytes),
    end: () => pass((to) => to.end()),
    failed: (failure: Failure) => pass((to) => to.failed(failure)),
    flow: (to: PushSink): FlowControl => {
      // Not at once: whoever calls this does not hold the flow yet.
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

/** All of them are let go when the process ends. */
const AGENT_DESTROYED = 'UND_ERR_DESTROYED'
const STOPPED_MESSAGE = 'The gateway was stopped before this answer was complete. Ask again.'

function createBrokenFailure(error: Error): Failure {
  const code = readErrorCode(error)
  if (code === AGENT_DESTROYED) return createFailure('gateway_stopped', STOPPED_MESSAGE)
  return code === 'UND_ERR_BODY_TIMEOUT'
    ? createFailure('upstream_timeout', 'The upstream stopped sending in the middle of its answer.')
    : createFailure(
        'upstream_broken',
        'The connection to the upstream broke in the middle of its answer.',
      )
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
  const why = MESSAGES_BY_CODE[code]
  if (why !== undefined) return new GatewayError('upstream_broken', why, { cause: error })
  return new GatewayError(
    'upstream_unreachable',
    `The upstream could not be reached (${code}). Check its baseUrl and that it is running.`,
    { cause: error },
  )
}

/** What has nothing to do with where an upstream is, nor with whether it runs. */
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
