/** Tracks work that continues after an answer was sent, so that a stopping process can wait for it. */
export interface PendingWork {
  readonly waitUntil: (work: Promise<unknown>) => void
  /** Resolves when all work is done, including work that starts in the meantime. */
  readonly whenIdle: () => Promise<void>
}

export function trackPendingWork(): PendingWork {
  const pending = new Set<Promise<unknown>>()
  return {
    waitUntil(work) {
      // Errors of the work are ignored, because the code that started it logs them.
      const done = work.catch(() => undefined).finally(() => pending.delete(done))
      pending.add(done)
    },
    async whenIdle() {
      while (pending.size > 0) await Promise.all(pending)
    },
  }
}
