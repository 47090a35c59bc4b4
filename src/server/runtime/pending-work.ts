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
  let waitingCount = 0
  return {
    waitUntil,
    runLater(work) {
      const wait = waitingCount === 0 ? waitForBurst : waitForNextPass
      waitingCount += 1
      previousStart = previousStart.then(wait).then(() => void (waitingCount -= 1))
      waitUntil(previousStart.then(work))
    },
    async whenIdle() {
      while (pending.size > 0) await Promise.all(pending)
    },
  }
}

/**
 * Waits for the disconnects that may follow the first one. The upstream requests of these clients are cancelled
 * before the first work, which may take 25 ms for a partial answer of 4 MB, delays them.
 */
function waitForBurst(): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, BURST_MS))
}

const BURST_MS = 50

/** Waits until the events that have arrived in the meantime, e.g. data of other clients, are handled. */
function waitForNextPass(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve))
}
