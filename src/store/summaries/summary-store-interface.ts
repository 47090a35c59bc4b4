/**
 * Summaries as the rest of the house sees them. One stands for the beginning of a conversation up to a
 * border between two turns, and is found by the hash of all that was said up to there. Of one
 * beginning its owner has one summary or none.
 */
import type { Caller } from '../../core/client/caller.ts'

export interface SummaryStore {
  /**
   * Those whose beginnings are among the hashes, the one that stands for most first; of these up to
   * `limit`, in one query.
   */
  readonly findSummaries: (
    owner: Caller,
    prefixHashes: readonly string[],
    limit: number,
  ) => Promise<readonly StoredSummary[]>
  /**
   * Keeps it, unless there is one of that beginning already, which only `replaces` takes the place of;
   * and unless what it was made from has been forgotten meanwhile. Resolves to whether it is kept.
   */
  readonly saveSummary: (summary: NewSummary, replaces?: boolean) => Promise<boolean>
  /** Notes that it is needed still. */
  readonly touchSummary: (owner: Caller, id: string, nowMs: number) => Promise<void>
  /** Resolves to whether there was one. */
  readonly deleteSummary: (owner: Caller, id: string) => Promise<boolean>
}

export interface StoredSummary {
  readonly id: string
  readonly tenant: string
  readonly user: string | null
  /** The conversation that it was made in: it goes with that. */
  readonly conversation: string | null
  readonly prefixHash: string
  /** How much it stands for. */
  readonly turns: number
  readonly items: number
  readonly text: string
  /** Kept word for word. */
  readonly facts: readonly string[]
  /** By estimate, of what it stands for and of itself. */
  readonly tokensBefore: number
  readonly tokensAfter: number
  /** Who wrote it, and in answer to which question. */
  readonly model: string
  readonly promptVersion: number
  /** The summary that it goes on from, and how often that was done in a row. */
  readonly madeFrom: string | null
  readonly generation: number
  readonly createdAtMs: number
  readonly usedAtMs: number
  /** Whether it goes two days after it was last needed, whatever else is kept for how long. */
  readonly isTemporary: boolean
}

export interface NewSummary extends StoredSummary {
  /** The turn whose answer it was made after, if that is kept: it is forgotten with its thread. */
  readonly turn: string | null
  /** A turn before that, which is kept for sure. */
  readonly parent: string | null
  /** Of when is what it was made from: what has been forgotten since then takes it along. */
  readonly begunAtMs: number
}
