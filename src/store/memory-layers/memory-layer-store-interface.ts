/**
 * Interface of the store of memory layers: for each layer a log of complete versions. A version
 * number can be used once, so of two replicas that write at the same time one fails, and starts
 * again with the version of the other.
 */
import type { JsonObject } from '../../core/json/json.ts'
import type { Caller } from '../../core/client/caller.ts'
import type { DerivedDataOrigin } from '../deletion/derived-data-origin.ts'

export interface LayerStore {
  /** Returns the last version of each of the latest 48 rounds, the oldest first. */
  readonly loadVersions: (key: LayerKey) => Promise<readonly StoredLayerVersion[]>
  /**
   * Resolves to `false` if the number is used already, or if the source of the version was deleted.
   */
  readonly saveVersion: (version: NewLayerVersion) => Promise<boolean>
  /** Resolves to `false` if there was no version. */
  readonly deleteVersions: (key: LayerKey) => Promise<boolean>
  /** Updates the time of last use. */
  readonly touchVersions: (key: LayerKey, nowMs: number) => Promise<void>
}

export interface LayerKey {
  readonly owner: Caller
  readonly layer: string
  /**
   * A thread of turns or a conversation; `null` for a layer over all of the owner's conversations.
   */
  readonly thread: string | null
}

export interface StoredLayerVersion {
  /** Counted from 1. */
  readonly number: number
  /** Number of the user's round in which the version was written. */
  readonly round: number
  readonly body: JsonObject
  readonly createdAtMs: number
  readonly usedAtMs: number
}

export interface NewLayerVersion extends StoredLayerVersion {
  readonly id: string
  readonly place: LayerKey
  /** A stored turn; if it is deleted before the version is written, the version is not stored. */
  readonly parent: string | null
  readonly work: DerivedDataOrigin
  readonly isTemporary: boolean
}
