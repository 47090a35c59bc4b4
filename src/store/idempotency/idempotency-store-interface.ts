/**
 * Interface of the store of idempotency keys. A request claims its key before it is sent to an upstream. The key is
 * then released, if no upstream has processed the request, or used up. Every method may be repeated, e.g. after a
 * lost connection.
 */
import type { Caller } from '../../core/client/caller.ts'

export interface IdempotencyStore {
  /**
   * Claims a key. Resolves to false, and writes nothing, if another request has the key already. A claim that is older
   * than 24 hours does not count.
   */
  readonly claimKey: (claim: NewKeyClaim) => Promise<boolean>
  readonly findClaim: (keyId: string) => Promise<KeyClaim | null>
  /** Marks a claimed key as used up: the request was or may have been processed, so it is never sent again. */
  readonly useUpKey: (keyId: string, turnId: string) => Promise<void>
  /** Deletes the claim, so that a request with the same key is sent again. */
  readonly releaseKey: (keyId: string, turnId: string) => Promise<void>
  /** True if a request with a key made the turn. */
  readonly isTurnOfKey: (turnId: string) => Promise<boolean>
}

export interface NewKeyClaim extends Caller {
  /** A hash of the tenant, the user and the key. */
  readonly keyId: string
  /** A hash that is equal only for requests with the same endpoint and body. */
  readonly fingerprint: string
  /** The turn of the answer, whether or not it will be stored. */
  readonly turnId: string
  readonly replicaId: string
  readonly nowMs: number
}

export interface KeyClaim {
  readonly fingerprint: string
  readonly turnId: string
  /** The replica that may still release the key; null if the key is used up, or if the replica has died. */
  readonly replicaId: string | null
}

/** Time after which a key can be used for another request. */
export const KEY_LIFETIME_MS = 24 * 60 * 60 * 1000
