/** Sends upstream requests with `fetch`, for Cloudflare Workers, which have no undici. */
import type { FlowControl, PushSink } from '../../core/stream/push-source-interface.ts'
import {
  CONNECTION_BROKEN_FAILURE,
  createUnansweredTimeoutError,
  IDLE_TIMEOUT_FAILURE,
  MaybeProcessedError,
  type UpstreamReply,
  type TransportTimeouts,
  type Transport,
} from './transport-interface.ts'

export function createFetchTransport(timeouts: TransportTimeouts): Transport {
  return (request) => {
    const abort = new AbortController()
    const headersTimer = setTimeout(() => abort.abort(new Error(TIMED_OUT)), timeouts.headersMs)
    const reply = fetch(request.url, {
      method: request.method,
      headers: request.headers,
      body: request.body as BodyInit | null,
      signal: abort.signal,
      redirect: 'manual',
    }).then(
      (response) => createReply(response, abort, timeouts.idleMs),
      (cause: unknown) => {
        throw createUnansweredError(abort.signal, cause)
      },
    )
    return {
      reply: reply.finally(() => clearTimeout(headersTimer)),
      cancel: () => abort.abort(new Error('cancelled')),
    }
  }
}

const TIMED_OUT = 'timed out'

function createReply(response: Response, abort: AbortController, idleMs: number): UpstreamReply {
  return {
    status: response.status,
    headers: removeEncodingHeaders(Object.fromEntries(response.headers)),
    flow: (sink) => pumpBody(response, sink, abort, idleMs),
  }
}

/**
 * Returns the headers, without `content-encoding` and `content-length` if the body was compressed:
 * both are wrong after `fetch` has decompressed it.
 */
function removeEncodingHeaders(headers: UpstreamReply['headers']): UpstreamReply['headers'] {
  const { 'content-encoding': encoding, 'content-length': _length, ...rest } = headers
  return encoding === undefined ? headers : rest
}

/**
 * Reads the body and pushes its chunks into the sink. While the sink is paused, reads nothing.
 */
function pumpBody(
  response: Response,
  sink: PushSink,
  abort: AbortController,
  idleMs: number,
): FlowControl {
  let paused: PromiseWithResolvers<void> | null = null
  const resume = (): void => {
    paused?.resolve()
    paused = null
  }

  const readAll = async (): Promise<void> => {
    const reader = (response.body ?? new Blob().stream()).getReader()
    const watch = createIdleWatch(idleMs, () => abort.abort(new Error(TIMED_OUT)))
    try {
      for (;;) {
        if (paused !== null) await paused.promise
        watch.startWaiting()
        const { done, value } = await reader.read()
        watch.stopWaiting()
        if (done) return sink.end()
        sink.chunk(value)
      }
    } finally {
      watch.close()
    }
  }
  // Resumes a paused reader when the request is cancelled, so that it notices the cancellation.
  abort.signal.addEventListener('abort', resume, { once: true })
  readAll().catch(() => {
    sink.failed(isTimeout(abort.signal) ? IDLE_TIMEOUT_FAILURE : CONNECTION_BROKEN_FAILURE)
  })
  return {
    pause: () => void (paused ??= Promise.withResolvers()),
    resume,
  }
}

/**
 * Calls `onIdle` if the reader waits for `idleMs`. One timer serves all chunks of a body, because a timer for each
 * chunk would take a tenth of the time of a stream. If it fires before `idleMs` have passed since the last chunk, it is
 * set again for the remaining time.
 */
function createIdleWatch(idleMs: number, onIdle: () => void) {
  let waitingSinceMs: number | null = null
  let timer: ReturnType<typeof setTimeout> | null = null
  const check = (): void => {
    timer = null
    if (waitingSinceMs === null) return
    const remainingMs = waitingSinceMs + idleMs - Date.now()
    if (remainingMs <= 0) onIdle()
    else timer = setTimeout(check, remainingMs)
  }
  return {
    startWaiting(): void {
      waitingSinceMs = Date.now()
      timer ??= setTimeout(check, idleMs)
    },
    stopWaiting: () => void (waitingSinceMs = null),
    close(): void {
      if (timer !== null) clearTimeout(timer)
    },
  }
}

function isTimeout(signal: AbortSignal): boolean {
  return signal.reason instanceof Error && signal.reason.message === TIMED_OUT
}

function createUnansweredError(signal: AbortSignal, cause: unknown): MaybeProcessedError {
  if (isTimeout(signal)) return createUnansweredTimeoutError(cause)
  // `fetch` does not report whether it had sent the request when it failed.
  return new MaybeProcessedError(
    'upstream_unreachable',
    'The upstream could not be reached, or its connection broke before it answered. Check its baseUrl and that it is running.',
    { cause },
  )
}
