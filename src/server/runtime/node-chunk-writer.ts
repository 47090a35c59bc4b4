/**
 * Writes a streamed answer as HTTP chunks, each with a single write to the socket. Node itself
 * writes the length, the data and the line ends of a chunk separately, which would take more time
 * than any other step for a token. Pieces that are written in the same pass of the event loop
 * become one chunk.
 */
import type { ServerResponse } from 'node:http'

export interface NodeChunkWriter {
  /** Writes a piece; returns false if the socket's buffer is full. */
  readonly write: (piece: string | Uint8Array) => boolean
  /** Writes the collected pieces now, instead of at the end of the event loop's pass. */
  readonly flush: () => void
  readonly hasStarted: () => boolean
}

/** Creates the writer, which calls `onDrain` when the socket's buffer has room again. */
export function createNodeChunkWriter(
  outgoing: ServerResponse,
  onDrain: () => void,
): NodeChunkWriter {
  let hasStarted = false
  let isFull = false
  let buffered = ''
  let encoding: 'utf8' | 'latin1' = 'utf8'

  const handleDrain = (): void => {
    isFull = false
    onDrain()
  }
  const flush = (): void => {
    if (buffered === '') return
    const text = buffered
    buffered = ''
    // A drain listener is already set if the socket's buffer was full before.
    if (writeChunk(outgoing, text, encoding) || isFull) return
    isFull = true
    // Listens to the socket, because the response emits no `drain` for data that was written
    // directly to the socket.
    if (!outgoing.writableNeedDrain) outgoing.socket?.once('drain', handleDrain)
  }
  const buffer = (text: string, textEncoding: typeof encoding): void => {
    if (encoding !== textEncoding) flush()
    encoding = textEncoding
    if (buffered === '') queueMicrotask(flush)
    buffered += text
    if (buffered.length >= MAX_BUFFERED_CHARS) flush()
  }
  outgoing.on('drain', handleDrain)

  return {
    write(piece) {
      if (piece.length === 0) return !isFull
      if (hasStarted) {
        if (typeof piece === 'string') buffer(piece, 'utf8')
        else buffer(decodeLatin1(piece), 'latin1')
      } else {
        // Node writes the first piece itself, together with the headers.
        hasStarted = true
        isFull = !outgoing.write(piece)
      }
      return !isFull
    },
    flush,
    hasStarted: () => hasStarted,
  }
}

const MAX_BUFFERED_CHARS = 64 * 1024

function writeChunk(outgoing: ServerResponse, text: string, encoding: 'utf8' | 'latin1'): boolean {
  const { socket } = outgoing
  // If the response has unsent data, writes through the response, because a direct write to the
  // socket would overtake that data.
  if (socket === null || !outgoing.chunkedEncoding || outgoing.writableLength > 0) {
    return outgoing.write(text, encoding)
  }
  const size = encoding === 'utf8' ? Buffer.byteLength(text) : text.length
  return socket.write(`${size.toString(16)}\r\n${text}\r\n`, encoding)
}

/**
 * Converts each byte to one character, so that bytes can be joined with the chunk's length and line
 * ends.
 */
function decodeLatin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1')
}
