/** Who is not let in by a WebSocket, although the same request over HTTP would be answered. */
import { isLoopback } from '../edge/loopback.ts'
import { GatewayError } from '../errors.ts'
import type { Settings } from '../settings.ts'

export function onlyUpgrades(): GatewayError {
  return new GatewayError(
    'method_not_allowed',
    'GET /v1/responses opens a WebSocket: send `Upgrade: websocket`, or use POST.',
    { headers: { allow: 'POST' } },
  )
}

/**
 * Without keys only this machine is served, and a browser on it counts as such. Any web page may
 * open a WebSocket to this machine and, unlike with HTTP, read what is answered.
 */
export function refuseForeignPages(
  origin: string | null,
  { BACKSTORY_KEYS: keys }: Settings,
): void {
  if (keys.length > 0 || origin === null) return
  if (URL.canParse(origin) && isLoopback(new URL(origin).host)) return
  throw new GatewayError(
    'keys_required',
    'This gateway has no keys and therefore serves its own machine only, but not the web pages that are shown on it. Set BACKSTORY_KEYS=name:key to let them in.',
  )
}
