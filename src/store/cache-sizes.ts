/** Divides the memory of the setting `CACHE_MB` among all caches of the process. */

/** The maximum size of each cache, in bytes. */
export interface CacheSizes {
  /** Pages of a SQLite file; 0 for other databases, which cache in their own process. */
  readonly pages: number
  /** Items of turns that clients send again (`recall/recall-cache.ts`). */
  readonly recalledItems: number
  /** Requests of the latest turns, each with its complete history (`upstream-requests/`). */
  readonly requests: number
  /** Texts of items until their request is stored (`upstream-requests/item-text-cache.ts`). */
  readonly itemTexts: number
  /** URLs of images and files that could not be loaded, for some minutes (`media/loading/media-loader.ts`). */
  readonly mediaFaults: number
}

export function divideCacheMemory(totalBytes: number, hasPages: boolean): CacheSizes {
  const pages = hasPages ? Math.floor(totalBytes / 3) : 0
  const mediaFaults = Math.floor(totalBytes / 64)
  const quarter = Math.floor((totalBytes - pages - mediaFaults) / 4)
  return { pages, recalledItems: 2 * quarter, requests: quarter, itemTexts: quarter, mediaFaults }
}

/** For commands, tests and other stores that are opened without settings. */
export const DEFAULT_CACHE_SIZES = divideCacheMemory(96 * 1024 * 1024, true)
