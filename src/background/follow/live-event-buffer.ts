/**
 * Buffers the events that a log of this process records until the client takes them. If too many
 * accumulate they are dropped, and the client reads them from the database instead.
 */
import type { EventGroup } from '../../store/background-runs/run-store-interface.ts'
import type { RunLogEnd, RunLog } from '../event-log/run-event-log.ts'

export interface LiveEventBuffer {
  /** Number of the first event that is not dropped; all later ones are buffered or already taken. */
  readonly from: () => number
  /** Removes the buffered events and returns them in order. */
  readonly takeEvents: () => readonly EventGroup[]
  readonly end: () => RunLogEnd | null
  readonly close: () => void
}

const MAX_BUFFERED_CHARS = 1024 * 1024

export function bufferLiveEvents(log: RunLog, onChange: () => void): LiveEventBuffer {
  let buffered: EventGroup[] = []
  let chars = 0
  let end: RunLogEnd | null = null
  const subscription = log.listen({
    recorded(group) {
      buffered.push(group)
      chars += group.text.length
      if (chars > MAX_BUFFERED_CHARS) {
        from = group.last + 1
        buffered = []
        chars = 0
      }
      onChange()
    },
    over(result) {
      end = result
      onChange()
    },
  })
  let { from } = subscription
  return {
    from: () => from,
    takeEvents() {
      const groups = buffered
      buffered = []
      chars = 0
      return groups
    },
    end: () => end,
    close: subscription.stop,
  }
}
