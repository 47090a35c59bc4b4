/** Defines whom an answer belongs to, and how work continues after it. */
import type { Caller } from '../../core/client/caller.ts'

/** For whom, and under which name the answer is kept. */
export interface AnswerOwner {
  readonly caller: Caller
  readonly turnId: string
  /** Is told of what goes on behind the answer. */
  readonly waitUntil: (work: Promise<unknown>) => void
}
