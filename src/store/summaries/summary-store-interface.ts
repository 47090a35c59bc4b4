/**
 * Interface of the store of summaries. A summary replaces the beginning of a conversation, up to a
 * boundary between two turns, and is found by a hash of all items before the boundary. An owner has
 * at most one summary for each beginning.
 */
import type { Caller } from '../../core/client/caller.ts'
import type { UndecryptableRule } from '../encryption/decrypt-rows.ts'

export interface SummaryStore {
  /**
   * Returns at most `limit` summaries whose `prefixHash` is in the list, that of the longest
   * beginning first. By default, summaries that cannot be decrypted are left out.
   */
  readonly findSummaries: (
    owner: Caller,
    prefixHashes: readonly string[],
    limit: number,
    rule?: UndecryptableRule,
  ) => Promise<readonly StoredSummary[]>
  /**
   * Stores a summary. Resolves to `false` if the same beginning has a summary already and
   * `replaces` is false, or if the conversation was deleted in the meantime.
   */
  readonly saveSummary: (summary: NewSummary, replaces?: boolean) => Promise<boolean>
  /** Sets the time of last use. */
  readonly touchSummary: (owner: Caller, id: string, nowMs: number) => Promise<void>
  /** Resolves to `false` if the owner has no such summary. */
  readonly deleteSummary: (owner: Caller, id: string) => Promise<boolean>
}

export interface StoredSummary {
  readonly id: string
  readonly tenant: string
  readonly user: string | null
  /**
   * Id of the conversation in which the summary was made. The summary is deleted with that
   * conversation.
   */
  readonly conversation: string | null
  readonly prefixHash: string
  /** Number of rounds and items that the summary replaces. */
  readonly roundCount: number
  readonly itemCount: number
  readonly text: string
  /** Facts that are copied word for word into later summaries. */
  readonly facts: readonly string[]
  /** Estimated tokens of the replaced items, and of the summary. */
  readonly tokensBefore: number
  readonly tokensAfter: number
  /** The model that wrote the summary, and the version of the prompt that it got. */
  readonly model: string
  readonly promptVersion: number
  /**
   * Id of the previous summary, which this one extends, and the number of summaries in that chain
   * before this one.
   */
  readonly extendedSummaryId: string | null
  readonly generation: number
  readonly createdAtMs: number
  readonly usedAtMs: number
  /** True if the summary expires two days after its last use, regardless of `RETENTION_DAYS`. */
  readonly isTemporary: boolean
}

export interface NewSummary extends StoredSummary {
  /**
   * Id of the turn after whose answer the summary was made, if that turn is stored. The summary is
   * deleted with the thread of the turn.
   */
  readonly turnId: string | null
  /** Id of the stored turn that the turn `turnId` continues. */
  readonly parentTurnId: string | null
  /**
   * Start of the job that wrote the summary. If the conversation or its user was deleted after
   * that, the summary is not stored.
   */
  readonly jobStartedAtMs: number
}
