/** A client that may leave at any time. It takes the call with it that is under way for it. */
import type { Exchange } from '../edge/exchange.ts'
import type { Call } from '../transport/transport.ts'

export function clientOf(exchange: Exchange) {
  let isGone = false
  let newest: Call | null = null
  exchange.onGone(() => {
    isGone = true
    newest?.cancel()
  })
  return {
    isGone: () => isGone,
    onCall: (call: Call): void => {
      newest = call
      if (isGone) call.cancel()
    },
  }
}
