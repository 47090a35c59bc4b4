/**
 * The memory as its clients look after it: turns to be read again, labelled, listed and deleted, and
 * found by what was said in them. Whatever is asked is asked by its owner; somebody else's is not there.
 */
import type { Item } from '../../core/item.ts'
import type { JsonObject } from '../../core/json/json.ts'
import type { Caller } from '../../core/client/caller.ts'
import type { FieldDigests, StoredTurn } from './turn-store-interface.ts'

export interface TurnManagementStore {
  /** One turn with its own items only, in a constant number of queries. */
  readonly loadTurn: (owner: Caller, turnId: string) => Promise<StoredTurn | null>
  /**
   * From now on the turn is not there any more. Its items stay for as long as another turn or a
   * conversation stands on them, and go with the last of those.
   */
  readonly deleteTurn: (deletion: TurnDeletion) => Promise<TurnDeletionResult>
  /** Puts new labels in the place of the turn's. `false` if there is no such turn. */
  readonly relabelTurn: (labels: TurnMetadata) => Promise<boolean>
  /** Completed turns of one page, with their answers but without what they were asked. */
  readonly listTurns: (page: TurnPage) => Promise<readonly StoredTurn[]>
  /**
   * Items by their ids, or by ids derived from their places, all in one round trip. Of several with
   * one id it is the newest; hidden items and those of deleted turns are not there.
   */
  readonly findItems: (owner: Caller, ids: readonly string[]) => Promise<ReadonlyMap<string, Item>>
  /** A turn at whose end exactly this had been said; the first of the hashes that is known wins. */
  readonly findContent: (key: ContentKey) => Promise<ContentTurn | null>
}

/** `running`: it is not over yet, so it is left as it is. */
export type TurnDeletionResult = 'deleted' | 'running' | 'unknown'

export interface TurnDeletion extends Caller {
  readonly turnId: string
  /** A turn of another dialect is none. */
  readonly dialect: string
  readonly nowMs: number
}

export interface TurnMetadata extends Caller {
  readonly turnId: string
  readonly dialect: string
  readonly metadata: JsonObject
}

export interface TurnPage extends Caller {
  readonly model: string | null
  /** Labels that a turn must have, at most as many as it can have. */
  readonly metadata: Readonly<Record<string, string>>
  /** A turn's id: only what stands behind it in the order asked for. */
  readonly after: string | null
  readonly limit: number
  readonly order: 'asc' | 'desc'
}

export interface ContentKey extends Caller {
  /** The best first, at most `MAX_CONTENT_HASHES`. */
  readonly hashes: readonly string[]
}

export const MAX_CONTENT_HASHES = 32

/** As much of a turn as its successor has to know. */
export interface ContentTurn {
  readonly id: string
  readonly thread: string
  readonly depth: number
  readonly digests: FieldDigests
  readonly contentHash: string
}
