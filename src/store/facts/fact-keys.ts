/** Defines the parameters of the statements about facts. */
import type { OwnerKey } from '../owner.ts'

export interface FactKey extends OwnerKey {
  readonly id: string
}

export interface FactWords extends FactKey {
  readonly words: string
  readonly name: string
}

export interface FactPageKey extends OwnerKey {
  readonly after: string
  readonly limit: number
}

/** Scopes are a JSON list as well. */
export interface FactWordSearch extends OwnerKey {
  readonly scopes: string
  readonly words: string
  readonly nowMs: number
  readonly limit: number
}

export interface FactTouch extends OwnerKey {
  readonly ids: string
  readonly nowMs: number
  readonly beforeMs: number
}
