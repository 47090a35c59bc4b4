/** A client that may leave at any time. It takes the call with it that is under way for it. */
import type { HttpExchange } from '../http-exchange-interface.ts'
import type { UpstreamCall } from '../../upstream/transport/transport-interface.ts'

export function cancelOnDisconnect(exchange: Pick<HttpExchange, 'onGone'>) {
  let isGone = false
  let newest: UpstreamCall | null = null
  const cancel = (): void => {
    isGone = true
    newest?.cancel()
  }
  exchange.onGone(cancel)
  return {
    isGone: () => isGone,
    onCall: (call: UpstreamCall): void => {
      newest = call
      if (isGone) call.cancel()
    },
    /** As if it had left, though it is still there: nobody waits for what is under way, or would follow. */
    cancel,
  }
}
