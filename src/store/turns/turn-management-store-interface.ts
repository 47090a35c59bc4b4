/**
 * Interface of the store for clients that manage stored turns: read, label, list and delete them,
 * and find them by content. All methods are restricted to the turns of one owner.
 */
import type { Item } from '../../core/item.ts'
import type { JsonObject } from '../../core/json/json.ts'
import type { Caller } from '../../core/client/caller.ts'
import type { FieldDigests, StoredTurn } from './turn-store-interface.ts'

export interface TurnManagementStore {
  /** Returns a turn with its own items only, in a constant number of queries. */
  readonly loadTurn: (owner: Caller, turnId: string) => Promise<StoredTurn | null>
  /**
   * Marks a turn as deleted. Its items stay as long as another turn or a conversation needs them,
   * and are deleted with the last of those.
   */
  readonly deleteTurn: (deletion: TurnDeletion) => Promise<TurnDeletionResult>
  /** Replaces the metadata. Resolves to `false` if there is no such turn. */
  readonly relabelTurn: (labels: TurnMetadata) => Promise<boolean>
  /** Returns a page of completed turns with their output items, without input items. */
  readonly listTurns: (page: TurnPage) => Promise<readonly StoredTurn[]>
  /**
   * Returns items by their ids, or by ids derived from their positions, in one round trip. Of
   * several with one id the latest is returned. Hidden items and items of deleted turns are left
   * out.
   */
  readonly findItems: (owner: Caller, ids: readonly string[]) => Promise<ReadonlyMap<string, Item>>
  /** Returns a turn with one of these content hashes. The first hash that has a turn wins. */
  readonly findContent: (key: ContentKey) => Promise<ContentTurn | null>
}

/** `running`: the turn is unfinished and was not deleted. */
export type TurnDeletionResult = 'deleted' | 'running' | 'unknown'

export interface TurnDeletion extends Caller {
  readonly turnId: string
  /** A turn of another dialect counts as unknown. */
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
  /** Labels that a turn must have. */
  readonly metadata: Readonly<Record<string, string>>
  /** The id of a turn: the page begins after it. */
  readonly after: string | null
  readonly limit: number
  readonly order: 'asc' | 'desc'
}

export interface ContentKey extends Caller {
  /** The preferred first, at most `MAX_CONTENT_HASHES`. */
  readonly hashes: readonly string[]
}

export const MAX_CONTENT_HASHES = 32

/** The fields of a turn that its successor needs. */
export interface ContentTurn {
  readonly id: string
  readonly thread: string
  readonly depth: number
  readonly digests: FieldDigests
  readonly contentHash: string
}
