/**
 * Loads media from the store or from the network: 6 at once, with one timeout for all, and within
 * the memory limit. The call always ends, with media or a fault for each URL.
 */
import { createLruCache } from '../../core/caching/lru-cache.ts'
import type { FetchMedia } from './follow-media-redirects.ts'
import type { LoadFaultCode, LoadedMedia, LoadFault } from './load-result-types.ts'
import type { LoadedBytesLease, LoadedBytesLimit } from './loaded-bytes-limit.ts'
import { verifyFetchedMedia } from './verify-fetched-media.ts'
import type { MediaUrlsToLoad } from './list-media-urls-to-load.ts'
import type { InlineMedia, RemoteMediaKind } from '../find-and-embed-remote-media.ts'

/** Finds and saves loaded media of one caller by URL. Its promises never reject. */
export interface LoadedMediaCache {
  /** Returns stored media by URL, with `null` for media that `fitsInMemory` rejects. */
  readonly find: (
    urls: readonly string[],
    fitsInMemory: (chars: number) => boolean,
  ) => Promise<ReadonlyMap<string, InlineMedia | null>>
  readonly save: (url: string, result: InlineMedia) => void
}

export interface MediaLoader {
  readonly load: (urlsToLoad: MediaUrlsToLoad, cache: LoadedMediaCache) => Promise<MediaLoad>
}

export interface MediaLoad {
  readonly loaded: LoadedMedia
  /** Releases the memory of the loaded media. Called at the end of the request. */
  readonly release: () => void
}

export interface MediaLoaderOptions {
  readonly fetchMedia: FetchMedia
  readonly memory: LoadedBytesLimit
  /** Maximum size of the media at one URL. */
  readonly maxBytes: number
  /** Maximum duration of one `load` call, for all of its URLs together. */
  readonly timeoutMs: number
  /** Maximum memory for the URLs that could not be loaded. */
  readonly maxFaultBytes: number
  readonly nowMs: () => number
  readonly onFault: (fault: LoadFaultCode) => void
}

const PARALLEL_LOADS = 6
const MAX_MEDIA = 32
const DROP_STEP = 8

/**
 * Returns how many of the latest URLs to load: at most 32. The oldest are dropped 8 at a time, so
 * that most turns send the same media as the turn before. For example, of 33 to 40 URLs, 25 to 32
 * are loaded.
 */
function limitUrlCount(count: number): number {
  return count - Math.max(0, Math.ceil((count - MAX_MEDIA) / DROP_STEP)) * DROP_STEP
}

export function createMediaLoader(options: MediaLoaderOptions): MediaLoader {
  const faultCache = createFaultCache(options)
  return {
    async load(urlsToLoad, cache) {
      const lease = options.memory.createLease()
      const loaded = new Map<string, InlineMedia | LoadFault>()
      const urls = [...urlsToLoad.keys()]
      for (const url of urls.splice(limitUrlCount(urls.length))) {
        loaded.set(url, { fault: 'media-too-many' })
      }
      for (const [url, result] of await cache.find(urls, lease.reserve)) {
        loaded.set(url, result ?? { fault: 'media-memory' })
      }
      const missing = urls.filter((url) => !loaded.has(url))
      const signal = AbortSignal.timeout(options.timeoutMs)
      const loadNext = async (): Promise<void> => {
        for (let url = missing.shift(); url !== undefined; url = missing.shift()) {
          const kind = urlsToLoad.get(url) ?? 'file'
          const result = faultCache.find(url) ?? (await loadUrl(url, kind, lease, signal, options))
          loaded.set(url, result)
          if ('base64' in result) cache.save(url, result)
          else faultCache.add(url, result)
        }
      }
      await Promise.all(Array.from({ length: PARALLEL_LOADS }, loadNext))
      for (const result of loaded.values()) {
        if ('fault' in result) options.onFault(result.fault)
      }
      return { loaded, release: () => lease.release() }
    },
  }
}

async function loadUrl(
  url: string,
  kind: RemoteMediaKind,
  lease: LoadedBytesLease,
  signal: AbortSignal,
  { fetchMedia, maxBytes }: MediaLoaderOptions,
): Promise<InlineMedia | LoadFault> {
  if (signal.aborted) return { fault: 'media-late' }
  let size = 0
  const checkBytes = (bytes: number): LoadFault | null => {
    if (size + bytes > maxBytes) return { fault: 'media-oversized' }
    if (!lease.reserve(bytes)) return { fault: 'media-memory' }
    size += bytes
    return null
  }
  const fetched = await fetchMedia(url, { signal, checkBytes })
  const result = 'fault' in fetched ? fetched : verifyFetchedMedia(kind, url, fetched)
  if ('fault' in result) lease.release(size)
  return result
}

/**
 * Remembers failed URLs for 5 minutes. Otherwise each turn of a chat would wait for them again, and
 * the prompt could change between turns.
 */
function createFaultCache({
  maxFaultBytes,
  nowMs,
}: Pick<MediaLoaderOptions, 'maxFaultBytes' | 'nowMs'>) {
  const faults = createLruCache<{ readonly fault: LoadFault; readonly untilMs: number }>(
    maxFaultBytes,
  )
  return {
    find(url: string): LoadFault | null {
      const entry = faults.get(url)
      if (entry === undefined) return null
      if (entry.untilMs > nowMs()) return entry.fault
      faults.take(url)
      return null
    },
    add(url: string, fault: LoadFault): void {
      // Does not remember faults that depend on this process and not on the URL.
      if (fault.fault === 'media-memory' || fault.fault === 'media-too-many') return
      // A fault that is already in the cache keeps its end.
      if (faults.get(url) !== undefined) return
      faults.put(url, { fault, untilMs: nowMs() + FAULT_CACHE_MS })
    },
  }
}

const FAULT_CACHE_MS = 5 * 60 * 1000
