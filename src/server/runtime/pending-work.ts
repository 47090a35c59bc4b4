/** What goes on behind answers, so that a process that stops can wait for it. */
export interface PendingWork {
  readonly waitUntil: (work: Promise<unknown>) => void
  /** Resolves when nothing goes on any more, what is begun meanwhile included. */
  readonly over: () => Promise<void>
}

export function trackPendingWork(): PendingWork {
  const works = new Set<Promise<unknown>>()
  return {
    waitUntil(work) {
      // Whoever began it says what went wrong with it.
      const over = work.catch(() => undefined).finally(() => works.delete(over))
      works.add(over)
    },
    async over() {
      while (works.size > 0) await Promise.all(works)
    },
  }
}
