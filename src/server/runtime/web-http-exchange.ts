/** Implements HttpExchange with Web Streams, for Cloudflare Workers and for tests without a port. */
import { concatBytes } from '../../core/stream/concat-bytes.ts'
import type { ClientStream, HttpExchange } from '../../gateway/http-exchange-interface.ts'
import { isLoopbackAddress } from './is-loopback-address.ts'
import type { RequestMemory } from '../../gateway/request-memory.ts'
import { claimBodyMemory } from './claim-body-memory.ts'
import { createWorkersUpgrade } from './workers-websocket.ts'

export function createWebHttpExchange(
  request: Request,
  waitUntil: (work: Promise<unknown>) => void,
): HttpExchange {
  let whenStreamEnded: Promise<void> | null = null
  return {
    startedAtMs: performance.now(),
    readBody: (limitBytes, claimMemory) => readBody(request, limitBytes, claimMemory),
    onDisconnect: (callback) => onAbort(request.signal, callback),
    onSent(handleSent) {
      if (whenStreamEnded === null) handleSent()
      else void whenStreamEnded.then(handleSent)
    },
    startStream(status, headers, run) {
      // The response to HEAD has no body, so nothing is streamed; one with such a status may have none.
      if (request.method === 'HEAD' || STATUSES_WITHOUT_BODY.has(status))
        return new Response(null, { status, headers })
      const { readable, client, whenEnded } = createStreamClient(request.signal)
      waitUntil(whenEnded)
      whenStreamEnded = whenEnded
      run(client)
      return new Response(readable, { status, headers })
    },
    isLocal: () => isLoopbackAddress(new URL(request.url).host),
    waitUntil,
    runLater: (work) => waitUntil(work()),
    ...createWorkersUpgrade(request),
  }
}

const STATUSES_WITHOUT_BODY: ReadonlySet<number> = new Set([204, 205, 304])

/**
 * Calls the callback when the signal is aborted; immediately if it is aborted already, because the
 * signal emits no second event.
 */
function onAbort(signal: AbortSignal, callback: () => void): void {
  if (signal.aborted) callback()
  else signal.addEventListener('abort', callback, { once: true })
}

async function readBody(
  request: Request,
  limitBytes: number,
  claimMemory: RequestMemory['claim'],
): Promise<Uint8Array> {
  const countBytes = claimBodyMemory(request.headers.get('content-length'), limitBytes, claimMemory)
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of request.body ?? []) {
    size += chunk.length
    countBytes(size)
    chunks.push(chunk)
  }
  return concatBytes(chunks)
}

/**
 * Creates a client stream and the Web Stream from which its data is read. The stream counts as full
 * while one piece is unread.
 */
function createStreamClient(signal: AbortSignal) {
  const utf8 = new TextEncoder()
  let onDrain = (): void => undefined
  let isEnded = false
  let isDisconnected = false
  const disconnectCallbacks: (() => void)[] = []
  const { promise: whenEnded, resolve: resolveEnded } = Promise.withResolvers<void>()
  let controller!: ReadableStreamDefaultController<Uint8Array>

  const disconnect = (): void => {
    if (isEnded) return
    isEnded = true
    isDisconnected = true
    for (const callback of disconnectCallbacks) callback()
    resolveEnded()
  }
  const readable = new ReadableStream<Uint8Array>(
    { start: (own) => void (controller = own), pull: () => onDrain(), cancel: disconnect },
    { highWaterMark: 1 },
  )
  onAbort(signal, disconnect)

  const client: ClientStream = {
    write(text) {
      if (isEnded) return true
      controller.enqueue(typeof text === 'string' ? utf8.encode(text) : text)
      return (controller.desiredSize ?? 0) > 0
    },
    end(text) {
      if (isEnded) return
      if (text !== '') controller.enqueue(utf8.encode(text))
      isEnded = true
      controller.close()
      resolveEnded()
    },
    abort() {
      if (isEnded) return
      isEnded = true
      controller.error(new Error('The upstream broke off.'))
      resolveEnded()
    },
    onDrain: (callback) => void (onDrain = callback),
    onDisconnect: (callback) =>
      isDisconnected ? callback() : void disconnectCallbacks.push(callback),
    isDisconnected: () => isDisconnected,
  }
  return { readable, client, whenEnded }
}
