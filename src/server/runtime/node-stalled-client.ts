/**
 * Disconnects a client that does not read the end of its answer on Node. Until the last byte is
 * written, the time limits of the request and of its upstream apply; afterwards, nothing else would free the connection.
 */
import type { ServerResponse } from 'node:http'

/** `maxStallMs`: maximum time in which the client reads nothing, e.g. 60,000. */
export function disconnectStalledClient(outgoing: ServerResponse, maxStallMs: number): void {
  outgoing.once('prefinish', () => {
    const { socket } = outgoing
    // Most answers are already sent completely here. Node destroys a socket at its timeout, and sets the
    // timeout for idle connections when the answer is sent.
    if (socket !== null && socket.writableLength > 0) socket.setTimeout(maxStallMs)
  })
}
