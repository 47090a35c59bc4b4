/**
 * Releases the memory of a request when all of its work is done: its handler has returned, its streamed answer has
 * ended, and the work that continues after the answer is done.
 */
import type { ClientStream, HttpExchange } from '../gateway/http-exchange-interface.ts'
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
    if (unfinished === 0) memory.release()
  }
  // Most requests are too small to be counted, so they are not tracked.
  const isCounted = (): boolean => memory.claimedBytes() > 0
  return {
    onHandled: finishOne,
    exchange: {
      ...exchange,
      startStream(status, headers, run) {
        const runTracked = (client: ClientStream): void => {
          unfinished += 1
          run(trackStream(client, finishOne))
        }
        return exchange.startStream(status, headers, isCounted() ? runTracked : run)
      },
      waitUntil(work) {
        if (!isCounted()) return exchange.waitUntil(work)
        unfinished += 1
        exchange.waitUntil(work.finally(finishOne))
      },
      runLater(work) {
        if (!isCounted()) return exchange.runLater(work)
        unfinished += 1
        exchange.runLater(() => work().finally(finishOne))
      },
    },
  }
}

function trackStream(client: ClientStream, onEnd: () => void): ClientStream {
  let isEnded = false
  const end = (): void => {
    if (isEnded) return
    isEnded = true
    onEnd()
  }
  client.onDisconnect(end)
  return {
    ...client,
    end(text) {
      client.end(text)
      end()
    },
    abort() {
      client.abort()
      end()
    },
  }
}
