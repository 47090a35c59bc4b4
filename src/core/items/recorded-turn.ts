/** Defines the part of a stored turn that recall needs to restore forgotten items. */
import type { Item } from '../item.ts'

export interface RecordedTurn {
  readonly id: string
  readonly thread: string
  readonly parent: string | null
  readonly depth: number
  /** Hash of the turn's text and of all text before it; null if unknown. */
  readonly fingerprint: string | null
  /** Upstream that rejected the reasoning before this turn; null for most turns. */
  readonly reasoningRefusedBy: string | null
  readonly createdAtMs: number
  /** Time of the last recall, accurate to about a day. */
  readonly usedAtMs: number
  /** New items before the answer, including tool outputs. */
  readonly input: readonly Item[]
  /** The answer's items in order, each with its origin. */
  readonly output: readonly Item[]
}
