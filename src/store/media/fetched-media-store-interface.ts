/**
 * Media that were loaded from the network for an owner, by their addresses. Those that stand inside of
 * items are no verbs of their own: they are written and read with them (`extract-item-media.ts`).
 */
import type { Caller } from '../../core/client/caller.ts'

export interface FetchedMediaStore {
  /**
   * Those of the addresses that were loaded before; `null` for one that there is no room for. Says that
   * they are needed still.
   */
  readonly findLoaded: (
    owner: Caller,
    wanted: FetchedMediaLookup,
  ) => Promise<ReadonlyMap<string, StoredFetchedMedia | null>>
  /** What is at an address that is known already stays as it is: it has been shown like that. */
  readonly keepLoaded: (
    loadedFor: FetchedMediaOwner,
    url: string,
    medium: StoredFetchedMedia,
    nowMs: number,
  ) => Promise<void>
}

/** It is forgotten with the thread. */
export interface FetchedMediaOwner extends Caller {
  readonly thread: string | null
}

export interface FetchedMediaLookup {
  readonly urls: readonly string[]
  /** Asked of each before it is read, how long it is. */
  readonly hasRoom: (chars: number) => boolean
  readonly nowMs: number
}

export interface StoredFetchedMedia {
  readonly type: string
  readonly base64: string
}
