/** The upstream over `fetch`, for runtimes that have nothing nearer to the wire. */
import { createFailure, GatewayError } from '../../core/errors/gateway-error.ts'
import type { FlowControl, PushSink } from '../../core/stream/push-source.ts'
import type { UpstreamReply, TransportTimeouts, Transport } from './transport-interface.ts'

export function createFetchTransport(timeouts: TransportTimeouts): Transport {
  return (request) => {
    const abort = new AbortController()
    const late = setTimeout(() => abort.abort(new Error(TIMED_OUT)), timeouts.headersMs)
    const reply = fetch(request.url, {
      method: request.method,
      headers: request.headers,
      body: request.body as BodyInit | null,
      signal: abort.signal,
      redirect: 'manual',
    }).then(
      (response) => createReply(response, abort, timeouts.idleMs),
      (cause: unknown) => {
        throw createUnreachableError(abort.signal, cause)
      },
    )
    return {
      reply: reply.finally(() => clearTimeout(late)),
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

/** `fetch` unpacks a body, but leaves the headers as they came. */
function removeEncodingHeaders(headers: UpstreamReply['headers']): UpstreamReply['headers'] {
  const { 'content-encoding': encoding, 'content-length': _length, ...rest } = headers
  return encoding === undefined ? headers : rest
}

/** Reads and pushes until the end; a pause is a promise that the next read waits for. */
function pumpBody(
  response: Response,
  sink: PushSink,
  abort: AbortController,
  idleMs: number,
): FlowControl {
  let resumed: Promise<void> | null = null
  let resume = (): void => undefined
  const idle = (): ReturnType<typeof setTimeout> =>
    setTimeout(() => abort.abort(new Error(TIMED_OUT)), idleMs)

  const run = async (): Promise<void> => {
    const reader = (response.body ?? new Blob().stream()).getReader()
    for (;;) {
      if (resumed !== null) await resumed
      const timer = idle()
      const { done, value } = await reader.read().finally(() => clearTimeout(timer))
      if (done) return sink.end()
      sink.chunk(value)
    }
  }
  // What is held back would never hear of it.
  abort.signal.addEventListener('abort', () => resume(), { once: true })
  run().catch(() => {
    sink.failed(
      isTimeout(abort.signal)
        ? createFailure(
            'upstream_timeout',
            'The upstream stopped sending in the middle of its answer.',
          )
        : createFailure(
            'upstream_broken',
            'The connection to the upstream broke in the middle of its answer.',
          ),
    )
  })
  return {
    pause() {
      resumed ??= new Promise((resolve) => {
        resume = () => {
          resumed = null
          resolve()
        }
      })
    },
    resume: () => resume(),
  }
}

function isTimeout(signal: AbortSignal): boolean {
  return signal.reason instanceof Error && signal.reason.message === TIMED_OUT
}

function createUnreachableError(signal: AbortSignal, cause: unknown): GatewayError {
  if (isTimeout(signal)) {
    return new GatewayError('upstream_timeout', 'The upstream did not answer in time.', { cause })
  }
  return new GatewayError(
    'upstream_unreachable',
    'The upstream could not be reached. Check its baseUrl and that it is running.',
    { cause },
  )
}
