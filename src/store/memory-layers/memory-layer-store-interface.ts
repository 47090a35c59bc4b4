/**
 * The memories of layers as the rest of the house sees them: of each a log of versions, every one of
 * them whole. A number is taken once, so that of two who write at the same moment one has to begin
 * again with what the other wrote.
 */
import type { JsonObject } from '../../core/json/json.ts'
import type { Caller } from '../../core/client/caller.ts'
import type { Work } from '../deletion/derived-data-origin.ts'

export interface LayerStore {
  /** Of the newest rounds the last version each, the oldest first. */
  readonly loadVersions: (place: LayerPlace) => Promise<readonly StoredVersion[]>
  /** Resolves to `false` if the number is taken, or what it was made from has been forgotten. */
  readonly saveVersion: (version: NewVersion) => Promise<boolean>
  /** Resolves to whether there was any. */
  readonly deleteVersions: (place: LayerPlace) => Promise<boolean>
  /** Notes that they are needed still. */
  readonly touchVersions: (place: LayerPlace, nowMs: number) => Promise<void>
}

export interface LayerPlace {
  readonly owner: Caller
  readonly layer: string
  /** A thread of turns or a conversation; `null` for what its owner has over all of them. */
  readonly thread: string | null
}

export interface StoredVersion {
  /** Counted from 1. */
  readonly number: number
  /** The round that it was written in. */
  readonly round: number
  readonly body: JsonObject
  readonly createdAtMs: number
  readonly usedAtMs: number
}

export interface NewVersion extends StoredVersion {
  readonly id: string
  readonly place: LayerPlace
  /** A turn that is kept: what is forgotten while this is made takes it along. */
  readonly parent: string | null
  readonly work: Work
  readonly isTemporary: boolean
}
