/**
 * Interface of the store for clients that manage stored turns: read, label, list and delete them,
 * and find them by content. All methods are restricted to the turns of one owner.
 */
import type { Item } from '../../core/item.ts'
import type { JsonObject } from '../../core/json/json.ts'
import type { Caller } from '../../core/client/caller.ts'
import type { ClaimMemory } from '../../core/ports/claim-memory.ts'
import type { FieldDigests, StoredTurn } from './turn-store-interface.ts'

/** Reads fail if a text cannot be decrypted. */
export interface TurnManagementStore {
  /**
   * Returns a turn with its own items, without those of its ancestors, in a constant number of
   * queries. `claimMemory` is called before the items of a large turn are read.
   */
  readonly loadTurn: (
    owner: Caller,
    turnId: string,
    claimMemory?: ClaimMemory,
  ) => Promise<StoredTurn | null>
  /**
   * Returns up to `maxTurns` consecutive turns of a chain with their items, oldest first, without the fields that
   * requests share with their parents. The last one is the ancestor of `lastTurnId` at `lastDepth`, or the
   * turn itself. Empty if the owner has no such turn. The duration depends on the length of the slice, and
   * hardly on that of the chain.
   */
  readonly loadChainSlice: (
    owner: Caller,
    slice: ChainSlice,
    claimMemory?: ClaimMemory,
  ) => Promise<readonly StoredTurn[]>
  /**
   * Returns the turns of the owner in which items with these ids are or may be: stored with that id, or at the
   * position that a generated id names. Resolves to null if there may be more.
   */
  readonly findTurnsOfItems: (
    owner: Caller,
    itemIds: readonly string[],
  ) => Promise<readonly TurnOfItem[] | null>
  /**
   * Marks a turn as deleted. Its items stay stored as long as another turn or a conversation needs
   * them.
   */
  readonly deleteTurn: (deletion: TurnDeletion) => Promise<TurnDeletionResult>
  /**
   * Replaces the metadata of a turn. Resolves to `false` if the owner has no such completed turn.
   */
  readonly replaceMetadata: (labels: TurnMetadata) => Promise<boolean>
  /**
   * Returns a page of completed turns with their output items, without input items. `claimMemory` is called
   * before the items are decoded.
   */
  readonly listTurns: (page: TurnPage, claimMemory?: ClaimMemory) => Promise<readonly StoredTurn[]>
  /**
   * Returns items by id. An id is the item's own, or the id that the gateway generates from the
   * turn and the item's position. If several items have the same id, the latest is returned. Leaves
   * out hidden items and items of deleted turns. `claimMemory` is called before large items are read, and
   * counts an item as often as `ids` contains its id.
   */
  readonly findItems: (
    owner: Caller,
    ids: readonly string[],
    claimMemory?: ClaimMemory,
  ) => Promise<ReadonlyMap<string, Item>>
  /**
   * Tries the content hashes in their order, and returns a turn with the first hash that is found;
   * `null` if none is.
   */
  readonly findTurnByContent: (key: ContentLookup) => Promise<TurnFoundByContent | null>
}

export interface ChainSlice {
  readonly lastTurnId: string
  readonly lastDepth: number
  readonly maxTurns: number
}

export interface TurnOfItem {
  readonly turnId: string
  readonly thread: string
  readonly depth: number
}

/**
 * `running` means that the turn was not deleted, because it is unfinished; `unknown`, that the
 * owner has no such turn.
 */
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
  /** The page begins after the turn with this id; `null` for the first page. */
  readonly after: string | null
  readonly limit: number
  readonly order: 'asc' | 'desc'
}

export interface ContentLookup extends Caller {
  /** At most `MAX_CONTENT_HASHES`, the preferred hash first. */
  readonly hashes: readonly string[]
}

export const MAX_CONTENT_HASHES = 32

/** The fields of a found turn that are needed to create a turn after it. */
export interface TurnFoundByContent {
  readonly id: string
  readonly thread: string
  readonly depth: number
  readonly digests: FieldDigests
  readonly contentHash: string
}
