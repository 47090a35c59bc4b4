/**
 * Disconnects a client that does not read the end of its answer on Node, or reads it too slowly. Until the last byte
 * is written, the time limits of the request and of its upstream apply; afterwards, nothing else would free the
 * connection and the memory of the answer.
 */
import type { ServerResponse } from 'node:http'

export interface ReadingLimits {
  /** Maximum time in which the client reads nothing, e.g. 60,000. The minimum speed applies after this time. */
  readonly maxStallMs: number
  /** 0 for none. */
  readonly minBytesPerSecond: number
}

export function disconnectStalledClient(
  outgoing: ServerResponse,
  { maxStallMs, minBytesPerSecond }: ReadingLimits,
): void {
  outgoing.once('prefinish', () => {
    const { socket } = outgoing
    // Most answers are already sent completely here.
    if (socket === null || socket.writableLength === 0) return
    // Node destroys a socket at its timeout, and sets the timeout for idle connections when the answer is sent.
    socket.setTimeout(maxStallMs)
    if (minBytesPerSecond === 0) return
    const maxMs = maxStallMs + (socket.writableLength / minBytesPerSecond) * 1000
    const timer = setTimeout(() => socket.destroy(), maxMs).unref()
    outgoing.once('close', () => clearTimeout(timer))
  })
}
