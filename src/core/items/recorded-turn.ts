/** A recorded turn, as far as it is needed to give a client's text its backstory again. */
import type { Item } from '../item.ts'

export interface RecordedTurn {
  readonly id: string
  readonly thread: string
  readonly parent: string | null
  readonly depth: number
  /** Names the turn by what was said in it and before it; `null` where nobody knows. */
  readonly fingerprint: string | null
  /** The upstream that refused the reasoning of everything before this turn; nearly always `null`. */
  readonly reasoningRefusedBy: string | null
  readonly createdAtMs: number
  /** When it was last needed, give or take a day. */
  readonly usedAtMs: number
  /** What was new before the answer, outputs of tools among it. */
  readonly input: readonly Item[]
  /** What the model said, in its order, each with its origin. */
  readonly output: readonly Item[]
}
