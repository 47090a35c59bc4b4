/**
 * Holds back the first words behind what their client will forget, for the moment that it takes to
 * have that written down. Then the marker stands in front of those words, and whoever stops the answer
 * in the middle of its first sentence has it.
 *
 * It is the only place where words wait for the memory: once in an answer, and never for long. Events
 * that come meanwhile stay behind them, in their order.
 */
import type { StreamEvent } from '../../../core/stream-event.ts'
import { NO_OUTPUT } from '../../../core/stream/stage.ts'

export interface FirstTextDelay {
  /** What may be told now. */
  readonly push: (event: StreamEvent) => readonly StreamEvent[]
  /** All that is held back, which is told now. */
  readonly release: () => readonly StreamEvent[]
  /** Is given what was held back as soon as it may be told, unless it was released before. */
  readonly later: (tell: (events: readonly StreamEvent[]) => void) => void
}

/** `written` never takes long, whatever the memory does; it is `null` where nothing is to be waited for. */
export function delayFirstText(written: () => Promise<unknown> | null): FirstTextDelay {
  let held: StreamEvent[] = []
  let isOver = false
  let tell: (events: readonly StreamEvent[]) => void = () => undefined
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
      const wait = isOver || !isWord(event) ? null : written()
      if (wait === null) return [event]
      isOver = true
      held.push(event)
      void wait.then(() => {
        if (held.length > 0) tell(release())
      })
      return NO_OUTPUT
    },
    release,
    later: (own) => void (tell = own),
  }
}

function isWord(event: StreamEvent): boolean {
  return event.type === 'text-delta' && /\S/.test(event.text)
}
