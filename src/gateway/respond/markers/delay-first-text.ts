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
 * for. It resolves to true if the items before the text are stored.
 */
export function delayFirstText(whenStored: () => Promise<boolean> | null) {
  let held: StreamEvent[] = []
  let isOver = false
  let areEarlierItemsStored = false
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
      void waitWithTimeout(stored, MAX_DELAY_MS).then((isStored) => {
        areEarlierItemsStored = isStored === true
        if (held.length > 0) write(release())
        areEarlierItemsStored = false
      })
      return NO_OUTPUT
    },
    /** Removes and returns all delayed events. */
    release,
    /**
     * True while the delayed events are written, if the items before them are stored. Items after them, which arrived
     * during the delay, may not be stored yet.
     */
    areEarlierItemsStored: () => areEarlierItemsStored,
    /** Sets the function that is called with the delayed events when they can be written. */
    onReady: (callback: typeof write) => void (write = callback),
  }
}

function isVisibleText(event: StreamEvent): boolean {
  return event.type === 'text-delta' && /\S/.test(event.text)
}
