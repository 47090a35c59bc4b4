/**
 * Writes the pieces of a streamed answer as chunks of HTTP, each in one go. Node itself writes the
 * length of a chunk, its data and two line ends one by one, which costs a stream of tokens more than
 * all else that happens to it here. Pieces that come in one turn of the loop, as those of a burst do,
 * go out as one.
 */
import type { ServerResponse } from 'node:http'

export interface NodeChunkWriter {
  /** `false` when the client is full. */
  readonly write: (piece: string | Uint8Array) => boolean
  /** Writes what waits for the end of this turn. */
  readonly flush: () => void
  readonly hasBegun: () => boolean
}

/** `drained` hears that there is room again. */
export function createNodeChunkWriter(
  outgoing: ServerResponse,
  drained: () => void,
): NodeChunkWriter {
  let hasBegun = false
  let isFull = false
  let waiting = ''
  let encoding: 'utf8' | 'latin1' = 'utf8'

  const hasRoomAgain = (): void => {
    isFull = false
    drained()
  }
  const flush = (): void => {
    if (waiting === '') return
    const text = waiting
    waiting = ''
    // Who is full already will be heard of.
    if (writeChunk(outgoing, text, encoding) || isFull) return
    isFull = true
    // The response does not know of what was written past it, so it would not tell.
    if (!outgoing.writableNeedDrain) outgoing.socket?.once('drain', hasRoomAgain)
  }
  const wait = (text: string, as: typeof encoding): void => {
    if (encoding !== as) flush()
    encoding = as
    if (waiting === '') queueMicrotask(flush)
    waiting += text
    if (waiting.length >= LARGE_CHARS) flush()
  }
  outgoing.on('drain', hasRoomAgain)

  return {
    write(piece) {
      if (piece.length === 0) return !isFull
      if (hasBegun) {
        if (typeof piece === 'string') wait(piece, 'utf8')
        else wait(latin1Of(piece), 'latin1')
      } else {
        // With the headers, and as Node does it.
        hasBegun = true
        isFull = !outgoing.write(piece)
      }
      return !isFull
    },
    flush,
    hasBegun: () => hasBegun,
  }
}

const LARGE_CHARS = 64 * 1024

function writeChunk(outgoing: ServerResponse, text: string, encoding: 'utf8' | 'latin1'): boolean {
  const { socket } = outgoing
  // Something of the response waits for the socket yet: a piece must not overtake it.
  if (socket === null || !outgoing.chunkedEncoding || outgoing.writableLength > 0) {
    return outgoing.write(text, encoding)
  }
  const size = encoding === 'utf8' ? Buffer.byteLength(text) : text.length
  return socket.write(`${size.toString(16)}\r\n${text}\r\n`, encoding)
}

/** Bytes as characters: they are written in one go with what stands around them. */
function latin1Of(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1')
}
