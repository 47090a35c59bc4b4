/**
 * Implements HttpExchange with Node's request and response objects, because they take less time for
 * each token than Web Streams.
 */
import type { IncomingMessage } from 'node:http'
import type { HttpBindings } from '@hono/node-server'
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import { concatBytes } from '../../core/stream/concat-bytes.ts'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import { createNodeChunkWriter } from './node-chunk-writer.ts'
import type { ClientStream, HttpExchange } from '../../gateway/http-exchange-interface.ts'
import type { RequestMemory } from '../../gateway/request-memory.ts'
import { isLoopbackAddress } from './is-loopback-address.ts'
import { BODY_TOO_SLOW } from './node-upload-watch.ts'
import { claimBodyMemory } from './claim-body-memory.ts'
import type { PendingWork } from './pending-work.ts'

export function createNodeHttpExchange(
  { incoming, outgoing }: HttpBindings,
  { waitUntil, runLater }: Omit<PendingWork, 'whenIdle'>,
): HttpExchange {
  const isDisconnected = (): boolean => outgoing.destroyed && !outgoing.writableFinished
  const onDisconnect = (callback: () => void): void => {
    // `close` is emitted only once, so a callback that is added after the event is called
    // immediately.
    if (isDisconnected()) return callback()
    outgoing.once('close', () => {
      if (!outgoing.writableFinished) callback()
    })
  }
  return {
    startedAtMs: performance.now(),
    readBody: (limitBytes, claimMemory) => readIncoming(incoming, limitBytes, claimMemory),
    onDisconnect,
    onSent: (callback) => callWhenSent({ incoming, outgoing }, callback),
    startStream(status, headers, run) {
      // The response to HEAD has no body, so nothing is streamed.
      if (incoming.method === 'HEAD') return new Response(null, { status, headers })
      outgoing.writeHead(status, headers)
      let onDrain = (): void => undefined
      const writer = createNodeChunkWriter(outgoing, () => onDrain())
      const client: ClientStream = {
        write: writer.write,
        end(text) {
          writer.flush()
          if (text === '') outgoing.end()
          else outgoing.end(text)
        },
        abort() {
          writer.flush()
          outgoing.destroy()
        },
        onDrain: (callback) => void (onDrain = callback),
        onDisconnect,
        isDisconnected,
      }
      run(client)
      // Headers are sent with the first bytes, or alone if no bytes are written in this pass of the
      // event loop.
      setImmediate(() => {
        if (!writer.hasStarted()) outgoing.flushHeaders()
      })
      return RESPONSE_ALREADY_SENT
    },
    isLocal: () => isLocalRequest(incoming),
    waitUntil,
    runLater,
  }
}

/**
 * Calls the function when the last byte of the answer was passed to the operating system, or when the connection
 * has ended.
 */
function callWhenSent(
  { incoming: { socket }, outgoing }: HttpBindings,
  callback: () => void,
): void {
  if (outgoing.closed || socket.destroyed) return callback()
  if (outgoing.socket !== null) return void outgoing.once('close', callback)
  // An answer that waits for an earlier one of a client that pipelines its requests emits no `close` if the connection
  // ends before. Such a client may send any number of requests.
  socket.setMaxListeners(0)
  const finish = (): void => {
    socket.off('close', finish)
    outgoing.off('close', finish)
    callback()
  }
  socket.once('close', finish)
  outgoing.once('close', finish)
}

/** True if the request comes from this machine and its `host` header names this machine. */
export function isLocalRequest({ socket, headers }: IncomingMessage): boolean {
  return isLoopbackAddress(socket.remoteAddress ?? '') && isLoopbackAddress(headers.host ?? '')
}

function readIncoming(
  incoming: IncomingMessage,
  limitBytes: number,
  claimMemory: RequestMemory['claim'],
): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const { 'content-length': declared } = incoming.headers
    const countBytes = claimBodyMemory(declared ?? null, limitBytes, claimMemory)
    const chunks: Uint8Array[] = []
    let size = 0
    const collect = (chunk: Uint8Array): void => {
      size += chunk.length
      try {
        countBytes(size)
        chunks.push(chunk)
      } catch (error) {
        incoming.off('data', collect)
        reject(error)
      }
    }
    incoming.on('data', collect)
    const fail = (): void => reject(createAbortedRequestError())
    const failSlow = (): void => reject(createBodyTooSlowError())
    incoming.once(BODY_TOO_SLOW, failSlow)
    incoming.once('end', () => {
      // Listeners that stay would keep the chunks in memory until the answer ends.
      incoming.off('data', collect)
      incoming.off('error', fail)
      incoming.off(BODY_TOO_SLOW, failSlow)
      resolve(concatBytes(chunks))
    })
    incoming.once('error', fail)
  })
}

function createBodyTooSlowError(): GatewayError {
  return new GatewayError(
    'request_timeout',
    'The body of the request arrived too slowly, or stopped. Send it again over a faster connection, or change BODY_TIMEOUT_SECONDS and BODY_MIN_KB_PER_SECOND.',
    { headers: { connection: 'close' } },
  )
}

function createAbortedRequestError(): GatewayError {
  return new GatewayError('invalid_value', 'The request broke off before its end. Send it again.')
}
