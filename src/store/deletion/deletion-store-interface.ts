/**
 * Interface of the store that deletes turns: turns that were not used for a long time, and all turns
 * of a thread or of a user.
 */
export interface DeletionStore {
  /**
   * Deletes the expired turns of one page, beginning with the latest. Skips turns that a later
   * turn, a conversation or an unfinished run needs. Also deletes the expired ancestors of a deleted
   * turn, if no other turn needs them.
   */
  readonly expireTurns: (expiry: ExpiryPageRequest) => Promise<ExpiryResult>
  /**
   * Deletes all turns of a thread, including unfinished turns. A conversation with such turns is
   * empty afterwards. Resolves to the number of deleted turns.
   */
  readonly deleteThread: (thread: ThreadDeletion) => Promise<number>
  /** Deletes all data of a user. Resolves to the number of deleted turns. */
  readonly deleteUser: (tenant: string, user: string, nowMs: number) => Promise<number>
}

export interface ExpiryPageRequest {
  /** The turns that expire: all, or only those of temporary chats. */
  readonly lifetime: 'all' | 'temporary'
  readonly unusedSinceMs: number
  readonly nowMs: number
  /** Start of the page; `null` for the first page. */
  readonly after: ExpiryCursor | null
  /** Maximum number of turns that the page contains. Not all of them are deleted. */
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
 * The source of data that a slow job derives from a conversation, e.g. a fact from a summary. If
 * the source is deleted after the job began, the data is not stored.
 */
export interface DerivedDataOrigin {
  readonly jobStartedAtMs: number
  /** Id of the thread or conversation that the data is derived from; null if unknown. */
  readonly thread: string | null
}
