/**
 * Interface of the store of memory layers, which contains all versions of each layer. A version
 * number can be used only once: if two replicas write at the same time, one write fails, and that
 * replica starts again from the version of the other.
 */
import type { UndecryptableRule } from '../encryption/decrypt-rows.ts'
import type { JsonObject } from '../../core/json/json.ts'
import type { Caller } from '../../core/client/caller.ts'
import type { DerivedDataSource } from '../deletion/expiry-and-deletion-store-interface.ts'

export interface MemoryLayerStore {
  /** Returns the last version of each of the latest 48 rounds, the oldest first. */
  readonly loadVersions: (
    key: LayerKey,
    rule?: UndecryptableRule,
  ) => Promise<readonly StoredLayerVersion[]>
  /**
   * Stores a version. Resolves to `false` if the layer already has a version with this number, or
   * if its user, or the turn (`parentTurnId`), thread or conversation that it was derived from, was
   * deleted meanwhile.
   */
  readonly saveVersion: (version: NewLayerVersion) => Promise<boolean>
  /** Resolves to `false` if the layer has no versions. */
  readonly deleteVersions: (key: LayerKey) => Promise<boolean>
  /** Sets the time of last use of the layer's versions. */
  readonly touchVersions: (key: LayerKey, nowMs: number) => Promise<void>
}

export interface LayerKey {
  readonly owner: Caller
  readonly layer: string
  /**
   * Id of a thread or conversation; `null` for a layer that all of the owner's conversations share.
   */
  readonly thread: string | null
}

export interface StoredLayerVersion {
  /** Number of the version, counted from 1. */
  readonly number: number
  /** Number of the round in which the version was written. */
  readonly round: number
  readonly body: JsonObject
  readonly createdAtMs: number
  readonly usedAtMs: number
}

export interface NewLayerVersion extends StoredLayerVersion {
  readonly id: string
  readonly key: LayerKey
  /**
   * Id of the stored turn after which the version is written. If that turn is deleted before, the
   * version is not stored.
   */
  readonly parentTurnId: string | null
  readonly derivedFrom: DerivedDataSource
  readonly isTemporary: boolean
}
