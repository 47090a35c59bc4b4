/**
 * Loads media from where they are kept or, if need be, from the network: several at once, within a
 * time for all of them, and never more bytes than there is room for. It always comes to an end, and
 * for each there is a medium or a reason.
 */
import type { FetchMedia } from './follow-media-redirects.ts'
import type { LoadFaultCode, LoadedMedia, LoadFault } from './load-result-types.ts'
import type { LoadedBytesLease, LoadedBytesLimit } from './loaded-bytes-limit.ts'
import { verifyFetchedMedia } from './verify-fetched-media.ts'
import type { MediaUrlsToLoad } from './list-urls-to-load.ts'
import type { InlineMedia, RemoteMediaKind } from '../find-and-embed-remote-media.ts'

/** What was loaded before, of one tenant, by address. Never rejects. */
export interface LoadedMediaCache {
  /** `null` for one that there was no room for. */
  readonly find: (
    urls: readonly string[],
    hasRoom: (chars: number) => boolean,
  ) => Promise<ReadonlyMap<string, InlineMedia | null>>
  readonly keep: (url: string, medium: InlineMedia) => void
}

export interface MediaLoader {
  readonly load: (plan: MediaUrlsToLoad, kept: LoadedMediaCache) => Promise<MediaLoad>
}

export interface MediaLoad {
  readonly loaded: LoadedMedia
  /** The request is over that needed them. */
  readonly letGo: () => void
}

export interface MediaLoaderOptions {
  readonly fetchMedia: FetchMedia
  readonly memory: LoadedBytesLimit
  /** Of one medium. */
  readonly maxBytes: number
  /** For all media of a request. */
  readonly timeoutMs: number
  readonly nowMs: () => number
  readonly onFault: (fault: LoadFaultCode) => void
}

const AT_ONCE = 6
const MAX_MEDIA = 32
const STEP = 8

/** The oldest go several at a time, so that most turns send what the turn before has sent. */
function mostOf(count: number): number {
  return count - Math.max(0, Math.ceil((count - MAX_MEDIA) / STEP)) * STEP
}

export function createMediaLoader(parts: MediaLoaderOptions): MediaLoader {
  const failed = recentFaults(parts.nowMs)
  return {
    async load(plan, kept) {
      const lease = parts.memory.lease()
      const loaded = new Map<string, InlineMedia | LoadFault>()
      const urls = [...plan.keys()]
      for (const url of urls.splice(mostOf(urls.length))) {
        loaded.set(url, { fault: 'media-too-many' })
      }
      for (const [url, medium] of await kept.find(urls, lease.take)) {
        loaded.set(url, medium ?? { fault: 'media-memory' })
      }
      const missing = urls.filter((url) => !loaded.has(url))
      const signal = AbortSignal.timeout(parts.timeoutMs)
      const loadNext = async (): Promise<void> => {
        for (let url = missing.shift(); url !== undefined; url = missing.shift()) {
          const kind = plan.get(url) ?? 'file'
          const medium = failed.find(url) ?? (await loadOne(url, kind, lease, signal, parts))
          loaded.set(url, medium)
          if ('base64' in medium) kept.keep(url, medium)
          else failed.add(url, medium)
        }
      }
      await Promise.all(Array.from({ length: AT_ONCE }, loadNext))
      for (const medium of loaded.values()) {
        if ('fault' in medium) parts.onFault(medium.fault)
      }
      return { loaded, letGo: () => lease.letGo() }
    },
  }
}

async function loadOne(
  url: string,
  kind: RemoteMediaKind,
  lease: LoadedBytesLease,
  signal: AbortSignal,
  { fetchMedia, maxBytes }: MediaLoaderOptions,
): Promise<InlineMedia | LoadFault> {
  if (signal.aborted) return { fault: 'media-late' }
  let size = 0
  const refuse = (bytes: number): LoadFault | null => {
    if (size + bytes > maxBytes) return { fault: 'media-oversized' }
    if (!lease.take(bytes)) return { fault: 'media-memory' }
    size += bytes
    return null
  }
  const fetched = await fetchMedia(url, { signal, refuse })
  const medium = 'fault' in fetched ? fetched : verifyFetchedMedia(kind, url, fetched)
  if ('fault' in medium) lease.letGo(size)
  return medium
}

/**
 * What has just failed is not tried again with every turn: a chat would wait for it each time, and
 * its model be told now this and now that.
 */
function recentFaults(nowMs: () => number) {
  const faults = new Map<string, { readonly fault: LoadFault; readonly untilMs: number }>()
  return {
    find(url: string): LoadFault | null {
      const found = faults.get(url)
      if (found === undefined) return null
      if (found.untilMs > nowMs()) return found.fault
      faults.delete(url)
      return null
    },
    add(url: string, fault: LoadFault): void {
      // Those say something of this process, not of what is at the address.
      if (fault.fault === 'media-memory' || fault.fault === 'media-too-many') return
      if (faults.has(url) || url.length > MAX_CHARS) return
      if (faults.size >= MAX_FAULTS) faults.delete(faults.keys().next().value ?? '')
      faults.set(url, { fault, untilMs: nowMs() + REMEMBERED_MS })
    },
  }
}

const MAX_FAULTS = 1000
const MAX_CHARS = 1000
const REMEMBERED_MS = 5 * 60 * 1000
