/**
 * Interface of the store of media that the gateway fetched from URLs. Media inside of items are
 * written and read with the items instead (`extract-item-media.ts`).
 */
import type { Caller } from '../../core/client/caller.ts'

export interface FetchedMediaStore {
  /**
   * Returns the stored media of the URLs, and `null` for those that `hasRoom` rejects. Marks all of
   * them as used.
   */
  readonly findLoaded: (
    owner: Caller,
    wanted: FetchedMediaLookup,
  ) => Promise<ReadonlyMap<string, StoredFetchedMedia | null>>
  /**
   * Stores a medium. A URL that is stored already keeps its first medium, because models have seen
   * that one.
   */
  readonly keepLoaded: (
    loadedFor: FetchedMediaOwner,
    url: string,
    medium: StoredFetchedMedia,
    nowMs: number,
  ) => Promise<void>
}

/** The medium is deleted with the thread. */
export interface FetchedMediaOwner extends Caller {
  readonly thread: string | null
}

export interface FetchedMediaLookup {
  readonly urls: readonly string[]
  /**
   * Called with the length of each medium before it is read; media for which it returns false are
   * not read.
   */
  readonly hasRoom: (chars: number) => boolean
  readonly nowMs: number
}

export interface StoredFetchedMedia {
  readonly type: string
  readonly base64: string
}
