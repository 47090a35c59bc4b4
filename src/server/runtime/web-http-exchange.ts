/** An exchange on Web Streams, for Workers and for tests without a port. */
import { concatBytes } from '../../core/stream/concat-bytes.ts'
import type { ClientStream, HttpExchange } from '../../gateway/http-exchange-interface.ts'
import { isLoopbackAddress } from './is-loopback-address.ts'
import { createRequestTooLargeError } from './request-too-large-error.ts'
import { createWorkersUpgrade } from './workers-websocket.ts'

export function createWebHttpExchange(
  request: Request,
  waitUntil: (work: Promise<unknown>) => void,
): HttpExchange {
  return {
    readBody: (limitBytes) => readBody(request, limitBytes),
    onDisconnect: (callback) => whenAborted(request.signal, callback),
    startStream(status, headers, run) {
      const { readable, client, whenOver } = streamedClient(request.signal)
      waitUntil(whenOver)
      run(client)
      return new Response(readable, { status, headers })
    },
    isLocal: () => isLoopbackAddress(new URL(request.url).host),
    waitUntil,
    ...createWorkersUpgrade(request),
  }
}

/** An event is told once, and not to who listens later. */
function whenAborted(signal: AbortSignal, callback: () => void): void {
  if (signal.aborted) callback()
  else signal.addEventListener('abort', callback, { once: true })
}

async function readBody(request: Request, limitBytes: number): Promise<Uint8Array> {
  if (Number(request.headers.get('content-length') ?? 0) > limitBytes)
    throw createRequestTooLargeError(limitBytes)
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of request.body ?? []) {
    size += chunk.length
    if (size > limitBytes) throw createRequestTooLargeError(limitBytes)
    chunks.push(chunk)
  }
  return concatBytes(chunks)
}

/** A client that is read through a stream: full as soon as one piece waits to be read. */
function streamedClient(signal: AbortSignal) {
  const utf8 = new TextEncoder()
  let drain = (): void => undefined
  let over = false
  let isDisconnected = false
  const goneCallbacks: (() => void)[] = []
  let resolveOver = (): void => undefined
  const whenOver = new Promise<void>((resolve) => (resolveOver = resolve))
  let controller!: ReadableStreamDefaultController<Uint8Array>

  const gone = (): void => {
    if (over) return
    over = true
    isDisconnected = true
    for (const callback of goneCallbacks) callback()
    resolveOver()
  }
  const readable = new ReadableStream<Uint8Array>(
    { start: (own) => void (controller = own), pull: () => drain(), cancel: gone },
    { highWaterMark: 1 },
  )
  whenAborted(signal, gone)

  const client: ClientStream = {
    write(text) {
      if (over) return true
      controller.enqueue(typeof text === 'string' ? utf8.encode(text) : text)
      return (controller.desiredSize ?? 0) > 0
    },
    end(text) {
      if (over) return
      if (text !== '') controller.enqueue(utf8.encode(text))
      over = true
      controller.close()
      resolveOver()
    },
    abort() {
      if (over) return
      over = true
      controller.error(new Error('The upstream broke off.'))
      resolveOver()
    },
    onDrain: (callback) => void (drain = callback),
    onDisconnect: (callback) => (isDisconnected ? callback() : void goneCallbacks.push(callback)),
    isDisconnected: () => isDisconnected,
  }
  return { readable, client, whenOver }
}
