/**
 * Releases the memory of a request when all of its work is done: its handler has returned, its answer is sent, and the
 * work that continues after the answer is done. Work of small requests is tracked too, because it may load a large
 * history later, e.g. a background run.
 */
import type { HttpExchange } from '../gateway/http-exchange-interface.ts'
import type { RequestMemory } from '../gateway/request-memory.ts'

export interface TrackedExchange {
  readonly exchange: HttpExchange
  /** Must be called when the handler of the request has returned or thrown. */
  readonly onHandled: () => void
}

export function releaseMemoryAtEnd(exchange: HttpExchange, memory: RequestMemory): TrackedExchange {
  let unfinished = 1
  const finishOne = (): void => {
    unfinished -= 1
    if (unfinished === 0) memory.close()
  }
  return {
    onHandled: () => exchange.onSent(finishOne),
    exchange: {
      ...exchange,
      waitUntil(work) {
        unfinished += 1
        exchange.waitUntil(work.finally(finishOne))
      },
      runLater(work) {
        unfinished += 1
        exchange.runLater(() => work().finally(finishOne))
      },
    },
  }
}
