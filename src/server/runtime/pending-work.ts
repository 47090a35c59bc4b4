/** Tracks work that continues after an answer was sent, so that a stopping process can wait for it. */
import type { HttpExchange } from '../../gateway/http-exchange-interface.ts'

export interface PendingWork extends Pick<HttpExchange, 'waitUntil' | 'runLater'> {
  /** Resolves when all work is done, including work that starts in the meantime. */
  readonly whenIdle: () => Promise<void>
}

export function trackPendingWork(): PendingWork {
  const pending = new Set<Promise<unknown>>()
  const waitUntil = (work: Promise<unknown>): void => {
    // Errors of the work are ignored, because the code that started it logs them.
    const done = work.catch(() => undefined).finally(() => pending.delete(done))
    pending.add(done)
  }
  let previousStart: Promise<void> = Promise.resolve()
  return {
    waitUntil,
    runLater(work) {
      previousStart = previousStart.then(waitForNextPass)
      waitUntil(previousStart.then(work))
    },
    async whenIdle() {
      while (pending.size > 0) await Promise.all(pending)
    },
  }
}

/**
 * Waits until the events that have arrived in the meantime are handled, e.g. disconnects of other clients, whose
 * upstream requests are then canceled. Storing a partial answer of 4 MB takes about 25 ms.
 */
function waitForNextPass(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve))
}
