/**
 * The memories of layers as the rest of the house sees them: of each a log of versions, every one of
 * them whole. A number is taken once, so that of two who write at the same moment one has to begin
 * again with what the other wrote.
 */
import type { JsonObject } from '../../core/json/json.ts'
import type { Caller } from '../../core/client/caller.ts'
import type { DerivedDataOrigin } from '../deletion/derived-data-origin.ts'

export interface LayerStore {
  /** Of the newest rounds the last version each, the oldest first. */
  readonly loadVersions: (place: LayerKey) => Promise<readonly StoredLayerVersion[]>
  /** Resolves to `false` if the number is taken, or what it was made from has been forgotten. */
  readonly saveVersion: (version: NewLayerVersion) => Promise<boolean>
  /** Resolves to whether there was any. */
  readonly deleteVersions: (place: LayerKey) => Promise<boolean>
  /** Notes that they are needed still. */
  readonly touchVersions: (place: LayerKey, nowMs: number) => Promise<void>
}

export interface LayerKey {
  readonly owner: Caller
  readonly layer: string
  /** A thread of turns or a conversation; `null` for what its owner has over all of them. */
  readonly thread: string | null
}

export interface StoredLayerVersion {
  /** Counted from 1. */
  readonly number: number
  /** The round that it was written in. */
  readonly round: number
  readonly body: JsonObject
  readonly createdAtMs: number
  readonly usedAtMs: number
}

export interface NewLayerVersion extends StoredLayerVersion {
  readonly id: string
  readonly place: LayerKey
  /** A turn that is kept: what is forgotten while this is made takes it along. */
  readonly parent: string | null
  readonly work: DerivedDataOrigin
  readonly isTemporary: boolean
}
