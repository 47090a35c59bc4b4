/** A client that may leave at any time. It takes the call with it that is under way for it. */
import type { Exchange } from '../edge/exchange.ts'
import type { Call } from '../transport/transport.ts'

export function watchLeaving(exchange: Pick<Exchange, 'onGone'>) {
  let isGone = false
  let newest: Call | null = null
  const cancel = (): void => newest?.cancel()
  exchange.onGone(() => {
    isGone = true
    cancel()
  })
  return {
    isGone: () => isGone,
    onCall: (call: Call): void => {
      newest = call
      if (isGone) call.cancel()
    },
    /** Takes back what is under way, though the client is still there. */
    cancel,
  }
}
