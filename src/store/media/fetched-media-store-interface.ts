/**
 * Interface of the store of media that the gateway fetched from URLs. Media that items contain are
 * written and read with the items instead (`extract-item-media.ts`).
 */
import type { Caller } from '../../core/client/caller.ts'

export interface FetchedMediaStore {
  /**
   * Returns the stored media by URL; `null` for a stored medium that `fitsInMemory` rejects. Updates the time
   * of last use of all of them, at most once a day.
   */
  readonly findMedia: (
    owner: Caller,
    wanted: FetchedMediaLookup,
  ) => Promise<ReadonlyMap<string, StoredFetchedMedia | null>>
  /**
   * Stores the medium of a URL. If the URL has a stored medium already, that one stays, because
   * models have seen it.
   */
  readonly saveMedium: (
    loadedFor: FetchedMediaOwner,
    url: string,
    medium: StoredFetchedMedia,
    nowMs: number,
  ) => Promise<void>
}

/**
 * The caller and the thread that a medium was fetched for. The medium is deleted with the thread.
 */
export interface FetchedMediaOwner extends Caller {
  readonly thread: string | null
}

export interface FetchedMediaLookup {
  readonly urls: readonly string[]
  /**
   * Called with the length of each medium before it is read. If it returns false, the medium is not
   * read.
   */
  readonly fitsInMemory: (chars: number) => boolean
  readonly nowMs: number
}

export interface StoredFetchedMedia {
  readonly type: string
  readonly base64: string
}
