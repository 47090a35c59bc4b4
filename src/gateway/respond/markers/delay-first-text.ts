/**
 * Holds back the first text of an answer for the moment that it takes to store the items before it. The
 * marker, which names the stored turn, then comes before that text, and a user who stops the answer in
 * the middle of its first sentence keeps it. This is the only place where text waits for the database.
 */
import type { StreamEvent } from '../../../core/stream-event.ts'
import { NO_OUTPUT } from '../../../core/stream/stage.ts'
import { waitWithTimeout } from '../../../core/wait-with-timeout.ts'

export interface FirstTextDelay {
  /** Returns the events that may be written now; events after the first text wait behind it, in order. */
  readonly push: (event: StreamEvent) => readonly StreamEvent[]
  /** Returns everything that is held back. */
  readonly release: () => readonly StreamEvent[]
  /** Sets the function that is called with the held events once they may be written. */
  readonly onReady: (write: (events: readonly StreamEvent[]) => void) => void
}

/** Longer than a write takes, and too short to be noticed before the first word. */
const MAX_DELAY_MS = 50

/** `whenStored` returns null if there is nothing to wait for; it is called once, at the first text. */
export function delayFirstText(whenStored: () => Promise<unknown> | null): FirstTextDelay {
  let held: StreamEvent[] = []
  let isOver = false
  let write: (events: readonly StreamEvent[]) => void = () => undefined
  const release = (): readonly StreamEvent[] => {
    const released = held
    held = []
    return released
  }
  return {
    push(event) {
      if (held.length > 0) {
        held.push(event)
        return NO_OUTPUT
      }
      const stored = isOver || !isVisibleText(event) ? null : whenStored()
      if (stored === null) return [event]
      isOver = true
      held.push(event)
      void waitWithTimeout(stored, MAX_DELAY_MS).then(() => {
        if (held.length > 0) write(release())
      })
      return NO_OUTPUT
    },
    release,
    onReady: (callback) => void (write = callback),
  }
}

function isVisibleText(event: StreamEvent): boolean {
  return event.type === 'text-delta' && /\S/.test(event.text)
}
