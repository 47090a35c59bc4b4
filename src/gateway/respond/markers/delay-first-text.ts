/**
 * Delays the first text of an answer, at most 50 ms, until the items before it are stored. The marker, which names the
 * stored turn, can then come before the text: even if the user stops the answer in its first sentence, the client has
 * the marker. No other text waits for the database.
 */
import type { StreamEvent } from '../../../core/stream-event.ts'
import { NO_OUTPUT } from '../../../core/stream/stage.ts'
import { waitWithTimeout } from '../../../core/wait-with-timeout.ts'

export interface FirstTextDelay {
  /** Returns the events to write now. Events after a delayed text wait too, so that the order stays. */
  readonly push: (event: StreamEvent) => readonly StreamEvent[]
  /** Returns all events that are held back. */
  readonly release: () => readonly StreamEvent[]
  /** Sets the function that is called with the held events once they may be written. */
  readonly onReady: (write: (events: readonly StreamEvent[]) => void) => void
}

/** Max delay of the first text: longer than a database write usually takes, and too short to be noticed. */
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
