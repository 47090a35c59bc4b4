/**
 * Disconnects a client that does not read the end of its answer on Node. Until the end of the answer, its
 * time limit and the time limits of its upstream apply; after it, nothing else would free its connection.
 */
import type { ServerResponse } from 'node:http'

/** `maxStallMs`: time in which the client must take some of the rest, e.g. 60,000. */
export function disconnectStalledClient(outgoing: ServerResponse, maxStallMs: number): void {
  outgoing.once('prefinish', () => {
    const { socket } = outgoing
    // Nothing is left of most answers. Node destroys a socket at its timeout, and sets the timeout of an
    // idle socket when the answer is sent.
    if (socket !== null && socket.writableLength > 0) socket.setTimeout(maxStallMs)
  })
}
