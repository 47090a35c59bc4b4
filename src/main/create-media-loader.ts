/** The loader of a process, as its settings want it. */
import type { Log } from '../core/ports/log-interface.ts'
import type { Settings } from '../settings/read-settings.ts'
import type { FetchMedia } from '../media/loading/follow-media-redirects.ts'
import { createMediaLoader, type MediaLoader } from '../media/loading/media-loader.ts'
import { createLoadedBytesLimit } from '../media/loading/loaded-bytes-limit.ts'

/** Nothing is loaded where that is switched off. */
export function createMediaLoaderFromSettings(
  settings: Settings,
  fetchMedia: FetchMedia,
  log: Log,
): { readonly mediaLoader?: MediaLoader } {
  if (settings.MEDIA_FETCH === 'off') return {}
  return {
    mediaLoader: createMediaLoader({
      fetchMedia,
      memory: createLoadedBytesLimit(settings.MEDIA_MEMORY_MB * MEGABYTE),
      maxBytes: settings.MEDIA_FETCH_MAX_MB * MEGABYTE,
      timeoutMs: settings.MEDIA_FETCH_TIMEOUT_SECONDS * 1000,
      nowMs: Date.now,
      onFault: (fault) => log('info', 'media-not-loaded', { why: fault }),
    }),
  }
}

export const MEGABYTE = 1024 * 1024
