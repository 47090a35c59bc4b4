/**
 * Asks the memory for what was loaded before, and does not wait for ever: what it does not say in time
 * is loaded anew.
 */
import type { Log } from '../../../core/ports/log-interface.ts'
import { inTime, LATE } from '../../../core/wait-with-timeout.ts'
import type { KeptMedia } from '../../../media/loading/media-loader.ts'

export function patientMedia(kept: KeptMedia, log: Log): KeptMedia {
  return {
    ...kept,
    async find(urls, hasRoom) {
      let isWaiting = true
      // Room that is taken when the request has gone on would never be given back.
      const asked = kept.find(urls, (chars) => isWaiting && hasRoom(chars))
      const found = await inTime(asked, PATIENCE_MS)
      isWaiting = false
      if (found !== LATE) return found
      log('warn', 'media-not-kept', { why: 'It took too long.' })
      return new Map()
    },
  }
}

/** A user waits for the first word that long at most on account of a database. */
const PATIENCE_MS = 1500
