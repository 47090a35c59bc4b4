/** Defines the part of a stored turn that recall needs to restore forgotten items. */
import type { Item } from '../item.ts'

export interface RecordedTurn {
  readonly id: string
  /** Id of the tree of turns: the id of its first turn. */
  readonly thread: string
  /** Id of the stored turn that this one continues; null if there is none. */
  readonly parent: string | null
  /** Number of turns from `parent` back to one without a parent; 0 without `parent`. */
  readonly depth: number
  /** Hash of the turn's text and all text before it, by which recall finds the turn; null if unknown. */
  readonly fingerprint: string | null
  /** Name of the account that rejected earlier reasoning in this turn's request; null if none did. */
  readonly reasoningRefusedBy: string | null
  readonly createdAtMs: number
  /** True if the answer is complete, so that the client has everything that it was sent. */
  readonly isComplete?: boolean
  /** When the turn was last recalled, accurate to about a day. */
  readonly usedAtMs: number
  /** The items of the request that were new, e.g. a user message or tool outputs. */
  readonly input: readonly Item[]
  /** The items of the answer in order, each with the upstream that generated it (`origin`). */
  readonly output: readonly Item[]
}
