/** Cancels the current upstream call when the client disconnects, and any call that starts after that. */
import type { HttpExchange } from '../http-exchange-interface.ts'
import type { UpstreamCall } from '../../upstream/transport/transport-interface.ts'

export function cancelOnDisconnect(exchange: Pick<HttpExchange, 'onDisconnect'>) {
  let isDisconnected = false
  let latestCall: UpstreamCall | null = null
  const cancel = (): void => {
    isDisconnected = true
    latestCall?.cancel()
  }
  exchange.onDisconnect(cancel)
  return {
    isDisconnected: () => isDisconnected,
    onCall: (call: UpstreamCall): void => {
      latestCall = call
      if (isDisconnected) call.cancel()
    },
    /** Cancels the calls as if the client had disconnected, e.g. after an error. */
    cancel,
  }
}
