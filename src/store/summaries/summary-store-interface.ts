/**
 * Interface of the store of summaries. A summary replaces the beginning of a conversation, up to a
 * boundary between two turns, and is found by a hash of all items before the boundary. An owner has
 * at most one summary for each beginning.
 */
import type { Caller } from '../../core/client/caller.ts'

export interface SummaryStore {
  /** Returns the summaries for these beginnings, the longest beginning first, at most `limit`. */
  readonly findSummaries: (
    owner: Caller,
    prefixHashes: readonly string[],
    limit: number,
  ) => Promise<readonly StoredSummary[]>
  /**
   * Stores a summary. Resolves to `false` if there is one for the same beginning and `replaces` is
   * false, or if its source was deleted in the meantime.
   */
  readonly saveSummary: (summary: NewSummary, replaces?: boolean) => Promise<boolean>
  /** Updates the time of last use. */
  readonly touchSummary: (owner: Caller, id: string, nowMs: number) => Promise<void>
  /** Resolves to `false` if there was no such summary. */
  readonly deleteSummary: (owner: Caller, id: string) => Promise<boolean>
}

export interface StoredSummary {
  readonly id: string
  readonly tenant: string
  readonly user: string | null
  /** The conversation that it was made in, and is deleted with. */
  readonly conversation: string | null
  readonly prefixHash: string
  /** Number of turns and items that the summary replaces. */
  readonly turns: number
  readonly items: number
  readonly text: string
  /** Facts that are copied word for word into later summaries. */
  readonly facts: readonly string[]
  /** Estimated tokens of the replaced items, and of the summary. */
  readonly tokensBefore: number
  readonly tokensAfter: number
  /** The model that wrote it, and the version of the prompt. */
  readonly model: string
  readonly promptVersion: number
  /** The summary that it extends, and the number of summaries in that chain before it. */
  readonly madeFrom: string | null
  readonly generation: number
  readonly createdAtMs: number
  readonly usedAtMs: number
  /** True if the summary expires two days after its last use, regardless of `RETENTION_DAYS`. */
  readonly isTemporary: boolean
}

export interface NewSummary extends StoredSummary {
  /**
   * The turn after whose answer it was made, if that is stored. The summary is deleted with its
   * thread.
   */
  readonly turn: string | null
  /** A stored turn before that one. */
  readonly parent: string | null
  /** Start of the job. If the source was deleted after that, the summary is not stored. */
  readonly begunAtMs: number
}
