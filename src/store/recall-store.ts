/**
 * The memory as it is searched for a client that names no turn: by markers, by the ids of tool calls
 * and by fingerprints. Always within a tenant, and within a user where there is one; what belongs to
 * somebody else is not there, and takes no longer to be not there.
 */
import type { RememberedTurn } from '../conversation/remembered.ts'

export interface RecallStore {
  /**
   * Every turn that one of the keys names, in any order, in a constant number of queries. Turns that
   * are queued, deleted, or were left without an answer are not among them.
   */
  readonly findTurns: (keys: RecallKeys) => Promise<readonly RememberedTurn[]>
  /** Notes that they are needed still. */
  readonly touchTurns: (tenant: string, turnIds: readonly string[], nowMs: number) => Promise<void>
  /**
   * Removes turns that nobody has needed since then and that nothing stands on: no later turn, no
   * conversation. At most `limit` at once; resolves to how many.
   */
  readonly expireTurns: (unusedSinceMs: number, limit: number) => Promise<number>
  /** Removes every turn of the thread that the turn belongs to. Resolves to how many. */
  readonly forgetThread: (tenant: string, turnId: string) => Promise<number>
  /** Removes everything of a user: turns, conversations, events. Resolves to how many turns. */
  readonly forgetUser: (tenant: string, user: string) => Promise<number>
}

export interface RecallKeys {
  readonly tenant: string
  readonly user: string | null
  readonly turnIds: readonly string[]
  /** Of calls that a model made; ids repeat with some providers, so that several turns may match. */
  readonly callIds: readonly string[]
  readonly fingerprints: readonly string[]
}
