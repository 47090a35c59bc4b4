/**
 * Limits the number of client connections on Node. A connection beyond the maximum is closed as soon as it
 * is opened: that costs less than an answer, and a load balancer then tries another replica.
 */
import type { Server } from 'node:http'
import type { Log } from '../../core/ports/log-interface.ts'

const LOG_INTERVAL_MS = 60_000
const CLEANUP_INTERVAL_MS = 500

export function limitConnections(server: Server, maxConnections: number, log: Log): void {
  let refused = 0
  let loggedAtMs = Number.NEGATIVE_INFINITY
  let cleanedUpAtMs = Number.NEGATIVE_INFINITY
  server.maxConnections = maxConnections
  server.on('drop', () => {
    const nowMs = performance.now()
    refused += 1
    // Closes idle connections, because those of some clients must not keep out other clients.
    if (nowMs >= cleanedUpAtMs + CLEANUP_INTERVAL_MS) {
      cleanedUpAtMs = nowMs
      server.closeIdleConnections()
    }
    if (nowMs < loggedAtMs + LOG_INTERVAL_MS) return
    loggedAtMs = nowMs
    log('warn', 'connections-refused', { refused, limit: maxConnections })
    refused = 0
  })
}
