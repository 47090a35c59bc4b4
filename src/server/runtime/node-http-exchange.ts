/** An exchange on Node's own request and response: no Web Streams on the path of a token. */
import type { HttpBindings } from '@hono/node-server'
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import { concatBytes } from '../../core/stream/concat-bytes.ts'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import { createNodeChunkWriter } from './node-chunk-writer.ts'
import type { ClientStream, HttpExchange } from '../../gateway/http-exchange-interface.ts'
import { isLoopbackAddress } from './is-loopback-address.ts'
import { createRequestTooLargeError } from './request-too-large-error.ts'

export function createNodeHttpExchange(
  { incoming, outgoing }: HttpBindings,
  waitUntil: HttpExchange['waitUntil'],
): HttpExchange {
  const isDisconnected = (): boolean => outgoing.destroyed && !outgoing.writableFinished
  const onDisconnect = (callback: () => void): void => {
    // Its end is told once, and not to who asks later.
    if (isDisconnected()) return callback()
    outgoing.once('close', () => {
      if (!outgoing.writableFinished) callback()
    })
  }
  return {
    readBody: (limitBytes) => readIncoming(incoming, limitBytes),
    onDisconnect,
    startStream(status, headers, run) {
      outgoing.writeHead(status, headers)
      let drained = (): void => undefined
      const writer = createNodeChunkWriter(outgoing, () => drained())
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
        onDrain: (callback) => void (drained = callback),
        onDisconnect,
        isDisconnected,
      }
      run(client)
      // The headers go out with the first bytes; if none come at once, they go alone.
      setImmediate(() => {
        if (!writer.hasBegun()) outgoing.flushHeaders()
      })
      return RESPONSE_ALREADY_SENT
    },
    isLocal: () =>
      isLoopbackAddress(incoming.socket.remoteAddress ?? '') &&
      isLoopbackAddress(incoming.headers.host ?? ''),
    waitUntil,
  }
}

function readIncoming(incoming: HttpBindings['incoming'], limitBytes: number): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    if (Number(incoming.headers['content-length'] ?? 0) > limitBytes)
      return reject(createRequestTooLargeError(limitBytes))
    const chunks: Uint8Array[] = []
    let size = 0
    const keep = (chunk: Uint8Array): void => {
      size += chunk.length
      if (size <= limitBytes) return void chunks.push(chunk)
      incoming.off('data', keep)
      reject(createRequestTooLargeError(limitBytes))
    }
    incoming.on('data', keep)
    const breakOff = (): void => reject(brokenOff())
    incoming.once('end', () => {
      // Or the pieces, and the whole, are held for as long as the answer takes.
      incoming.off('data', keep)
      incoming.off('error', breakOff)
      resolve(concatBytes(chunks))
    })
    incoming.once('error', breakOff)
  })
}

function brokenOff(): GatewayError {
  return new GatewayError('invalid_value', 'The request broke off before its end. Send it again.')
}
