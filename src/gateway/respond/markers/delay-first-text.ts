/**
 * Delays the first text of an answer until the items before it are stored, but at most 50 ms. The marker,
 * which names the stored turn, can then precede the text. The client thus has the marker even if the user
 * stops the answer in its first sentence. Later text does not wait for the database.
 */
import type { StreamEvent } from '../../../core/stream-event.ts'
import { NO_OUTPUT } from '../../../core/stream/stream-stage.ts'
import { waitWithTimeout } from '../../../core/async/wait-with-timeout.ts'

export type FirstTextDelay = ReturnType<typeof delayFirstText>

/** Maximum delay of the first text: longer than most database writes, but too short for users to notice. */
const MAX_DELAY_MS = 50

/**
 * Creates the delay. `whenStored` is called at the first text; null means that there is nothing to wait
 * for.
 */
export function delayFirstText(whenStored: () => Promise<unknown> | null) {
  let held: StreamEvent[] = []
  let isOver = false
  let write: (events: readonly StreamEvent[]) => void = () => undefined
  const release = (): readonly StreamEvent[] => {
    const released = held
    held = []
    return released
  }
  return {
    /**
     * Returns the events to write now. Events that follow a delayed text are delayed too, to keep their
     * order.
     */
    push(event: StreamEvent): readonly StreamEvent[] {
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
    /** Removes and returns all delayed events. */
    release,
    /** Sets the function that is called with the delayed events when they can be written. */
    onReady: (callback: typeof write) => void (write = callback),
  }
}

function isVisibleText(event: StreamEvent): boolean {
  return event.type === 'text-delta' && /\S/.test(event.text)
}
