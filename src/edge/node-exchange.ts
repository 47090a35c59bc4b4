/** An exchange on Node's own request and response: no Web Streams on the path of a token. */
import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { HttpBindings } from '@hono/node-server'
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import { joined } from '../conversation/bytes.ts'
import type { Client, Exchange } from './exchange.ts'
import { isLoopback } from './loopback.ts'
import { tooLarge } from './too-large.ts'

export function nodeExchange({ incoming, outgoing }: HttpBindings): Exchange {
  const onGone = (callback: () => void): void => {
    outgoing.once('close', () => {
      if (!outgoing.writableFinished) callback()
    })
  }
  return {
    body: (limitBytes) => readIncoming(incoming, limitBytes),
    onGone,
    stream(status, headers, run) {
      outgoing.writeHead(status, headers)
      let hasBegun = false
      let drained = (): void => undefined
      const client: Client = {
        write(text) {
          if (hasBegun) return writeChunk(outgoing, text, drained)
          hasBegun = true
          return outgoing.write(text)
        },
        end: (text) => void (text === '' ? outgoing.end() : outgoing.end(text)),
        breakOff: () => void outgoing.destroy(),
        onDrain(callback) {
          drained = callback
          outgoing.on('drain', callback)
        },
        onGone,
        isGone: () => outgoing.destroyed && !outgoing.writableFinished,
      }
      run(client)
      // The headers go out with the first bytes; if none come at once, they go alone.
      setImmediate(() => {
        if (!hasBegun) outgoing.flushHeaders()
      })
      return RESPONSE_ALREADY_SENT
    },
    isLocal: () =>
      isLoopback(incoming.socket.remoteAddress ?? '') && isLoopback(incoming.headers.host ?? ''),
    waitUntil: () => undefined,
  }
}

function readIncoming(incoming: HttpBindings['incoming'], limitBytes: number): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    if (Number(incoming.headers['content-length'] ?? 0) > limitBytes)
      return reject(tooLarge(limitBytes))
    const chunks: Uint8Array[] = []
    let size = 0
    incoming.on('data', (chunk: Uint8Array) => {
      size += chunk.length
      if (size <= limitBytes) return void chunks.push(chunk)
      incoming.removeAllListeners('data')
      reject(tooLarge(limitBytes))
    })
    incoming.once('end', () => resolve(joined(chunks)))
    incoming.once('error', reject)
  })
}

/**
 * Writes a piece as one chunk of HTTP in one go, behind the headers. Node itself writes its length,
 * its data and two line ends one by one, which costs a stream of tokens more than all else that
 * happens to it here.
 */
function writeChunk(
  outgoing: ServerResponse,
  text: string | Uint8Array,
  drained: () => void,
): boolean {
  const { socket } = outgoing
  // Something of the response waits for the socket yet: a piece must not overtake it.
  if (socket === null || !outgoing.chunkedEncoding || outgoing.writableLength > 0) {
    return outgoing.write(text)
  }
  const hasRoom = writeRaw(socket, text)
  // The response does not know of this write, so it would not tell.
  if (!hasRoom) socket.once('drain', drained)
  return hasRoom
}

function writeRaw(socket: Socket, text: string | Uint8Array): boolean {
  if (typeof text === 'string') {
    return socket.write(`${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`)
  }
  const bytes = Buffer.from(text.buffer, text.byteOffset, text.length)
  return socket.write(`${bytes.length.toString(16)}\r\n${bytes.toString('latin1')}\r\n`, 'latin1')
}
