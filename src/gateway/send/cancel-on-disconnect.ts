/** Cancels the current upstream call when the client disconnects. Later calls are cancelled when they start. */
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
    /** Cancels the current call and all later ones, e.g. after an error. */
    cancel,
  }
}
