/** A client that may leave at any time. It takes the call with it that is under way for it. */
import type { HttpExchange } from '../http-exchange-interface.ts'
import type { UpstreamCall } from '../../upstream/transport/transport-interface.ts'

export function cancelOnDisconnect(exchange: Pick<HttpExchange, 'onDisconnect'>) {
  let isDisconnected = false
  let newest: UpstreamCall | null = null
  const cancel = (): void => {
    isDisconnected = true
    newest?.cancel()
  }
  exchange.onDisconnect(cancel)
  return {
    isDisconnected: () => isDisconnected,
    onCall: (call: UpstreamCall): void => {
      newest = call
      if (isDisconnected) call.cancel()
    },
    /** As if it had left, though it is still there: nobody waits for what is under way, or would follow. */
    cancel,
  }
}
