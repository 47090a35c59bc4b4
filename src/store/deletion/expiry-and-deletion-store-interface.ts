/**
 * Interface of the store that deletes what was not used for a long time, and all turns of a thread
 * or all data of a user.
 */
export interface ExpiryAndDeletionStore {
  /**
   * Deletes the expired turns of one page, beginning with the latest. Skips turns that a later
   * turn, a conversation or an unfinished run needs. Also deletes those ancestors of a deleted turn
   * that are expired or marked as deleted, unless another turn or a conversation needs them. Also
   * deletes unused summaries and memory layers, expired idempotency keys and, if `chats` is `all`,
   * unused facts and fetched media.
   */
  readonly expireTurns: (expiry: ExpiryPageRequest) => Promise<ExpiryResult>
  /** Returns where the last search for expired turns has stopped before its end; null for the beginning. */
  readonly loadExpiryCursor: (chats: ExpiryPageRequest['chats']) => Promise<ExpiryCursor | null>
  readonly saveExpiryCursor: (
    chats: ExpiryPageRequest['chats'],
    cursor: ExpiryCursor | null,
  ) => Promise<void>
  /**
   * Deletes all turns of a thread, including unfinished turns, and the data derived from them. A
   * conversation whose head is deleted is empty afterwards. Resolves to the number of deleted
   * turns. After the first, short transaction nothing of it can be read any more; the deletion itself then takes
   * many short transactions, between which others can write. If the process dies, `resumeDeletions` of any process
   * continues. `onProgress` is called with the number of turns that are deleted so far.
   */
  readonly deleteThread: (
    thread: ThreadDeletion,
    onProgress?: (turns: number) => void,
  ) => Promise<number>
  /**
   * Deletes all data of a user that exists at the time of the call, in the same way. Resolves to the number of deleted
   * turns.
   */
  readonly deleteUser: (
    tenant: string,
    user: string,
    nowMs: number,
    onProgress?: (turns: number) => void,
  ) => Promise<number>
  /** Continues deletions whose process has died. Resolves to the number of deleted turns. */
  readonly resumeDeletions: () => Promise<number>
}

export interface ExpiryPageRequest {
  /** The chats whose unused turns expire: all, or only temporary chats. */
  readonly chats: 'all' | 'temporary'
  readonly unusedSinceMs: number
  readonly nowMs: number
  /** Start of the page; `null` for the first page. */
  readonly after: ExpiryCursor | null
  /** Maximum number of turns in the page. Fewer are deleted if some are still needed. */
  readonly limit: number
}

export interface ExpiryCursor {
  readonly usedAtMs: number
  readonly turnId: string
}

export interface ExpiryResult {
  readonly deletedCount: number
  /** Start of the next page, or `null` after the last. */
  readonly next: ExpiryCursor | null
}

export interface ThreadDeletion {
  readonly tenant: string
  /** Only data of this user; `null` for all users of the tenant. */
  readonly user: string | null
  /** Any turn of the thread. */
  readonly turnId: string
  /**
   * Time of the deletion. A job that began earlier, e.g. a summary of the thread, cannot store its
   * result afterwards.
   */
  readonly nowMs: number
}

/**
 * The conversation from which a slow job derives data, e.g. a summary or a fact. If it is deleted
 * after the job began, the data is not stored.
 */
export interface DerivedDataSource {
  readonly jobStartedAtMs: number
  /** Id of the thread or conversation that the data is derived from; null if unknown. */
  readonly thread: string | null
}
