/** A client that may leave at any time. It takes the call with it that is under way for it. */
import type { Exchange } from '../http-exchange-interface.ts'
import type { Call } from '../../upstream/transport/transport-interface.ts'

export function watchLeaving(exchange: Pick<Exchange, 'onGone'>) {
  let isGone = false
  let newest: Call | null = null
  const cancel = (): void => {
    isGone = true
    newest?.cancel()
  }
  exchange.onGone(cancel)
  return {
    isGone: () => isGone,
    onCall: (call: Call): void => {
      newest = call
      if (isGone) call.cancel()
    },
    /** As if it had left, though it is still there: nobody waits for what is under way, or would follow. */
    cancel,
  }
}
