/** The loader of a process, as its settings want it. */
import type { Log } from '../conversation/log.ts'
import type { Settings } from '../settings.ts'
import type { FetchMedia } from './fetch-media.ts'
import { mediaLoader, type MediaLoader } from './load-media.ts'
import { mediaMemory } from './media-memory.ts'

/** Nothing is loaded where that is switched off. */
export function loaderFor(
  settings: Settings,
  fetchMedia: FetchMedia,
  log: Log,
): { readonly mediaLoader?: MediaLoader } {
  if (settings.MEDIA_FETCH === 'off') return {}
  return {
    mediaLoader: mediaLoader({
      fetchMedia,
      memory: mediaMemory(settings.MEDIA_MEMORY_MB * MEGABYTE),
      maxBytes: settings.MEDIA_FETCH_MAX_MB * MEGABYTE,
      timeoutMs: settings.MEDIA_FETCH_TIMEOUT_SECONDS * 1000,
      nowMs: Date.now,
      onFault: (fault) => log('info', 'media-not-loaded', { why: fault }),
    }),
  }
}

export const MEGABYTE = 1024 * 1024
