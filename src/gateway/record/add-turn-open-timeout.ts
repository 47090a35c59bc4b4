/**
 * A turn that its client asked to have stored, over a database that may not answer at all: the answer
 * waits a while for its turn, and then is given without the promise that it is kept. It is kept
 * nevertheless if the database comes back.
 */
import { waitWithTimeout, TIMED_OUT } from '../../core/wait-with-timeout.ts'
import type { Recorder } from './recorder-interface.ts'

/** `late` hears of a turn that was not waited for. */
export function addTurnOpenTimeout(recorder: Recorder, late: () => void): Recorder {
  let isLate = false
  const opened = waitWithTimeout(recorder.opened, PATIENCE_MS).then((opened) => {
    isLate = opened === TIMED_OUT
    if (isLate) late()
    return opened === true
  })
  return {
    ...recorder,
    opened,
    async settle(outcome, ending, made) {
      const settled = recorder.settle(outcome, ending, made)
      await opened
      return isLate ? outcome : settled
    },
  }
}

/** Longer than any database in order takes, and shorter than the patience of a client. */
const PATIENCE_MS = 5000
