/**
 * Limits how long a request waits for media that were stored earlier. After 1.5 s they are loaded from
 * their URL again.
 */
import type { Log } from '../../../core/ports/log-interface.ts'
import { queryWithTimeout } from '../../history/query-with-timeout.ts'
import type { LoadedMediaCache } from '../../../media/loading/media-loader.ts'

export function addMediaLookupTimeout(cache: LoadedMediaCache, log: Log): LoadedMediaCache {
  return {
    ...cache,
    async find(urls, hasRoom) {
      let isWaiting = true
      // A lookup that timed out must not reserve memory, because the reservation would never be released.
      const found = await queryWithTimeout(
        () => cache.find(urls, (chars) => isWaiting && hasRoom(chars)),
        'media-not-kept',
        log,
      )
      isWaiting = false
      return found ?? new Map()
    },
  }
}
