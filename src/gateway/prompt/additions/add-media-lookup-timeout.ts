/**
 * Asks the memory for what was loaded before, and does not wait for ever: what it does not say in time
 * is loaded anew.
 */
import type { Log } from '../../../core/ports/log-interface.ts'
import { waitWithTimeout, TIMED_OUT } from '../../../core/wait-with-timeout.ts'
import type { LoadedMediaCache } from '../../../media/loading/media-loader.ts'

export function addMediaLookupTimeout(kept: LoadedMediaCache, log: Log): LoadedMediaCache {
  return {
    ...kept,
    async find(urls, hasRoom) {
      let isWaiting = true
      // Room that is taken when the request has gone on would never be given back.
      const asked = kept.find(urls, (chars) => isWaiting && hasRoom(chars))
      const found = await waitWithTimeout(asked, PATIENCE_MS)
      isWaiting = false
      if (found !== TIMED_OUT) return found
      log('warn', 'media-not-kept', { why: 'It took too long.' })
      return new Map()
    },
  }
}

/** A user waits for the first word that long at most on account of a database. */
const PATIENCE_MS = 1500
