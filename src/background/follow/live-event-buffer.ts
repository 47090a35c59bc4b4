/**
 * Hears what a log of this process records, and keeps it until it is taken. If too much waits it is
 * let go of: it is in the database.
 */
import type { EventGroup } from '../../store/background-runs/run-store-interface.ts'
import type { RunLogEnd, RunLog } from '../event-log/run-log.ts'

export interface LiveEventBuffer {
  /** Everything from this event on has been heard and not been let go of. */
  readonly from: () => number
  /** What was heard since it was last asked, in order. */
  readonly taken: () => readonly EventGroup[]
  readonly end: () => RunLogEnd | null
  readonly close: () => void
}

const FULL_CHARS = 1024 * 1024

export function bufferLiveEvents(log: RunLog, onNews: () => void): LiveEventBuffer {
  let heard: EventGroup[] = []
  let chars = 0
  let end: RunLogEnd | null = null
  const listening = log.listen({
    recorded(group) {
      heard.push(group)
      chars += group.text.length
      if (chars > FULL_CHARS) {
        from = group.last + 1
        heard = []
        chars = 0
      }
      onNews()
    },
    over(how) {
      end = how
      onNews()
    },
  })
  let { from } = listening
  return {
    from: () => from,
    taken() {
      const groups = heard
      heard = []
      chars = 0
      return groups
    },
    end: () => end,
    close: listening.stop,
  }
}
