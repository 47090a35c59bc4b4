/** Limits the total time of a request to the setting for ordinary requests or for background responses. */
import { limitTransportTime } from '../../upstream/transport/limit-transport-time.ts'
import type { Transport } from '../../upstream/transport/transport-interface.ts'
import type { Ports } from '../dependencies-interface.ts'
import type { HttpExchange } from '../http-exchange-interface.ts'

/** Returns the transport for the upstream calls of the request. */
export function limitRequestTime(
  { startedAtMs }: Pick<HttpExchange, 'startedAtMs'>,
  { transport, settings }: Ports<'settings' | 'transport'>,
  isBackground = false,
): Transport {
  return limitTransportTime(
    transport,
    isBackground
      ? { startedAtMs, seconds: settings.BACKGROUND_TIMEOUT_SECONDS, code: 'run_timeout' }
      : { startedAtMs, seconds: settings.REQUEST_TIMEOUT_SECONDS, code: 'answer_timeout' },
  )
}
